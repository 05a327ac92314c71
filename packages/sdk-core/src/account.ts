/**
 * What the clients of Principals and relying parties share: the caller's identity, its API keys, its audit log
 * (interface §Endpoints, API keys, identity, audit, usage). Records have the service's member names; results of calls
 * are in camelCase.
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
  /** Ids and labels, newest first: every live key and the 900 keys revoked last. Values of keys are never returned. */
  list(options?: CallOptions): Promise<ApiKeyList>;
  /**
   * Issues a further key; existing keys stay valid. To rotate: issue a key, switch to it, revoke the old one. `api_key`
   * is returned only here.
   * @throws SvcError The call is never repeated. After `outcome-unknown` or a 503 an unused key may have been issued:
   * see the list.
   */
  issue(request?: { label?: string }, options?: CallOptions): Promise<ApiKeyIssued>;
  /** Revokes a key at once and for good. Repeatable. A key may revoke itself. */
  revoke(keyId: string, options?: CallOptions): Promise<{ keyId: string; revokedAt: string }>;
}

/** Which audit events to list. An absent member does not restrict the list. */
export interface AuditFilter {
  /** `noun.verb`, for example `grant.revoke`. */
  action?: AuditEvent['action'];
  /** The exact target of the event: a DID, or the id of a Grant or key. */
  target?: string;
  /** Events at this instant or later. */
  since?: Date | string;
  /** Events before this instant. */
  until?: Date | string;
  /** Items per page, 1–200. */
  limit?: number;
}

/** The audit log of the caller's own subject. */
export interface AuditLog {
  /** What the key's subject did, newest first. Pages are fetched as the list is consumed. */
  list(filter?: AuditFilter, options?: CallOptions): AsyncGenerator<AuditEvent, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(filter?: AuditFilter & { cursor?: string }, options?: CallOptions): Promise<AuditList>;
}

const aKeyId = rule('the key_id of an API key, 12 hexadecimal characters, not the key itself', isApiKeyId);

export const getMe = async (transport: Transport, call: CallOptions): Promise<Me> =>
  (await getMeWithTime(transport, call)).me;

/** Adds the time by the service's clock, see `Answer`. */
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

/** An instant as a query parameter. */
export function instant(name: string, value: Date | string | undefined): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value === 'string') return { [name]: value };
  if (Object.prototype.toString.call(value) !== '[object Date]' || Number.isNaN(value.getTime()))
    throw new SvcError('invalid-argument', `${name} must be a time that exists`);
  return { [name]: value.toISOString() };
}
