/**
 * What Principals and relying parties do alike: who they are, their API keys, their audit log (interface §Endpoints,
 * API keys, identity, audit, usage). Records are as the service sends them; what a call did is told in camelCase.
 */
import { isApiKeyId } from '@svc/protocol';
import { checkValue, rule } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { SvcError } from './errors.ts';
import { iteratePages } from './pages.ts';
import {
  readApiKeyIssued,
  readApiKeyList,
  readApiKeyRevoked,
  readAuditList,
  readMe,
} from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { ApiKeyIssued, ApiKeyList, AuditEvent, AuditList, Me } from './wire.generated.ts';

/** The API keys of the caller's own subject. */
export interface ApiKeys {
  /** Ids and labels, newest first: every live one, and the 900 that were revoked last; never a value. */
  list(options?: CallOptions): Promise<ApiKeyList>;
  /**
   * A further key; the old ones stay. To rotate: issue, change over, revoke. `api_key` is shown only here.
   * @throws SvcError Never sent twice: after `outcome-unknown` or a 503 an unused key may be in the list.
   */
  issue(request?: { label?: string }, options?: CallOptions): Promise<ApiKeyIssued>;
  /** At once and for good. Repeatable. A key may revoke itself. */
  revoke(keyId: string, options?: CallOptions): Promise<{ keyId: string; revokedAt: string }>;
}

/** Which audit events. What is absent does not restrict. */
export interface AuditFilter {
  /** `noun.verb`, for example `grant.revoke`. */
  action?: AuditEvent['action'];
  /** Exactly what it was done to: a DID, or the id of a Grant or key. */
  target?: string;
  /** At this instant or later. */
  since?: Date | string;
  /** Before this instant. */
  until?: Date | string;
  /** Per page, 1–200. */
  limit?: number;
}

/** The audit log of the caller's own subject. */
export interface AuditLog {
  /** What the subject of the key did, newest first, fetched page by page as it is consumed. */
  list(filter?: AuditFilter, options?: CallOptions): AsyncGenerator<AuditEvent, void, undefined>;
  /** One page of it; `next_cursor` is the `cursor` of the next one, null on the last. */
  page(filter?: AuditFilter & { cursor?: string }, options?: CallOptions): Promise<AuditList>;
}

const aKeyId = rule('the key_id of an API key, 12 hexadecimal characters, not the key itself', isApiKeyId);

export const getMe = async (transport: Transport, call: CallOptions): Promise<Me> =>
  (await getMeWithTime(transport, call)).me;

/** With the time by the service's clock, see `Answer`. */
export async function getMeWithTime(
  transport: Transport,
  call: CallOptions,
): Promise<{ readonly me: Me; readonly serviceTimeMs: number | null }> {
  const sent = { method: 'GET', path: '/me', hasEffect: false, hasDocuments: true } as const;
  const { body, serviceTimeMs } = await transport.send({ ...sent, ...call });
  return { me: readMe(body, 'the identity'), serviceTimeMs };
}

export function createApiKeys(transport: Transport): ApiKeys {
  const path = '/api-keys';
  return {
    async list(call = {}) {
      const { body } = await transport.send({ method: 'GET', path, hasEffect: false, ...call });
      return readApiKeyList(body, 'the list');
    },
    async issue({ label } = {}, call = {}) {
      const request = label === undefined ? {} : { label };
      const sent = { method: 'POST', path, body: request, hasEffect: true, isOnceOnly: true } as const;
      return readApiKeyIssued((await transport.send({ ...sent, ...call })).body, 'the key');
    },
    async revoke(keyId, call = {}) {
      checkValue('keyId', keyId, aKeyId);
      const sent = { method: 'POST', path: `${path}/${keyId}/revoke`, hasEffect: true } as const;
      const answer = await transport.send({ ...sent, ...call });
      const revoked = readApiKeyRevoked(answer.body, 'the revocation');
      if (revoked.key_id !== keyId)
        throw new SvcError('bad-response', 'the service answered about another key', answer);
      return { keyId, revokedAt: revoked.revoked_at };
    },
  };
}

export function createAuditLog(transport: Transport): AuditLog {
  const page: AuditLog['page'] = async ({ since, until, ...filter } = {}, call = {}) => {
    const query = { ...filter, ...instant('since', since), ...instant('until', until) };
    const { body } = await transport.send({
      method: 'GET',
      path: '/audit',
      query,
      hasEffect: false,
      ...call,
    });
    return readAuditList(body, 'the page');
  };
  return {
    page,
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ events }) => events,
      ),
  };
}

/** A query parameter. */
export function instant(name: string, value: Date | string | undefined): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value === 'string') return { [name]: value };
  if (Object.prototype.toString.call(value) !== '[object Date]' || Number.isNaN(value.getTime()))
    throw new SvcError('invalid-argument', `${name} must be a time that exists`);
  return { [name]: value.toISOString() };
}
