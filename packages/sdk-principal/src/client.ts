/**
 * The Principal's client (interface §Principal lifecycle): reserve and sign Grants, revoke and list them. The signing
 * key never leaves the signer; the service sees a Grant only when a relying party presents it.
 */
import { type Capability, isGrantId, type Signer } from '@svc/protocol';
import { createTransport, SvcError, type Transport } from '@svc/sdk-core';
import { buildGrantDraft, type GrantRequest, grantProblem, signGrant } from './grant-draft.ts';
import {
  type GrantList,
  type GrantSummary,
  type Me,
  parseGrantAllocation,
  parseGrantList,
  parseMe,
  parseRevokeResponse,
} from './wire.ts';

export interface PrincipalClientOptions {
  /** The service's address, https. */
  baseUrl: string;
  /** `SVC_PRINCIPAL_KEY` of the environment unless given; read at the first call. */
  apiKey?: string;
  /** Needed by `grants.issue` only. */
  signer?: Signer;
  fetch?: typeof fetch;
  /** For the whole of a call, retries included. 10,000 unless given; a revocation has three times as long. */
  timeoutMs?: number;
  /** Permits plain http to a host that is not loopback. */
  allowHttp?: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** 0 ≤ value < 1; spreads retries. */
  random?: () => number;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface IssuedGrant {
  /** The signed Grant, for the Agent. Whoever has it can do nothing without the Agent's key. */
  grant: string;
  grantId: string;
  issuer: string;
  agent: string;
  validFrom: string;
  validUntil: string;
  capabilities: readonly Capability[];
}

export interface GrantFilter {
  agent?: string;
  state?: 'active' | 'revoked';
  /** Per page, 1–200. */
  limit?: number;
}

export interface PrincipalClient {
  readonly grants: {
    /**
     * Reserves an id and a status entry, then signs the Grant here. A reservation whose Grant was never signed
     * authorises nothing.
     * @throws SvcError `invalid-argument` before anything is sent
     */
    issue(request: GrantRequest, options?: CallOptions): Promise<IssuedGrant>;
    /**
     * Returns once the revocation is in force everywhere: no ALLOW is dated after `revokedAt`. Repeatable.
     * @throws SvcError after a bounded number of attempts; the Grant may then still be in force, so call again.
     */
    revoke(grantId: string, options?: CallOptions): Promise<{ grantId: string; revokedAt: string }>;
    /** Every Grant of the filter, newest first, fetched page by page as it is consumed. */
    list(filter?: GrantFilter, options?: CallOptions): AsyncGenerator<GrantSummary, void, undefined>;
    page(filter?: GrantFilter & { cursor?: string }, options?: CallOptions): Promise<GrantList>;
  };
  /** Whose key this is. */
  me(options?: CallOptions): Promise<Me>;
}

const REVOKE_ATTEMPTS = 10;

/** @throws SvcError `configuration` */
export function createPrincipalClient(options: PrincipalClientOptions): PrincipalClient {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const transport = createTransport({
    ...options,
    apiKeyVariable: 'SVC_PRINCIPAL_KEY',
    timeoutMs,
    maxAttempts: 4,
  });
  const page: PrincipalClient['grants']['page'] = async (filter = {}, call = {}) => {
    const query = { ...filter };
    const answer = await transport.send({ method: 'GET', path: '/grants', query, hasEffect: false, ...call });
    return parseGrantList(answer.body);
  };
  return {
    grants: {
      issue: (request, call = {}) => issue(transport, options, request, call),
      revoke: (grantId, call = {}) => revoke(transport, grantId, { timeoutMs: 3 * timeoutMs, ...call }),
      list: (filter = {}, call = {}) => list((cursor) => page({ ...filter, ...cursor }, call)),
      page,
    },
    async me(call = {}) {
      return parseMe((await transport.send({ method: 'GET', path: '/me', hasEffect: false, ...call })).body);
    },
  };
}

async function issue(
  transport: Transport,
  { signer, now = Date.now }: PrincipalClientOptions,
  request: GrantRequest,
  call: CallOptions,
): Promise<IssuedGrant> {
  if (signer === undefined) throw new SvcError('configuration', 'issuing a Grant needs a signer');
  const draft = await buildGrantDraft(request, signer.kid, now());
  const body = { agent: draft.agent };
  const answer = await transport.send({ method: 'POST', path: '/grants', body, hasEffect: true, ...call });
  const allocation = parseGrantAllocation(answer.body);
  if (allocation.issuer !== draft.issuer) {
    throw new SvcError(
      'configuration',
      `the API key is of ${allocation.issuer}, but the signer's key is of ${draft.issuer}`,
    );
  }
  if (allocation.agent !== draft.agent) {
    throw new SvcError('bad-response', 'the service allocated the Grant to another Agent', answer);
  }
  const grant = await signGrant(draft, allocation, signer);
  const problem = grantProblem(grant);
  if (problem !== null) throw new SvcError('bad-response', `the allocation makes no valid Grant: ${problem}`);
  const { issuer, agent, validFrom, validUntil } = draft;
  const { capabilities } = request;
  return { grant, grantId: allocation.id, issuer, agent, validFrom, validUntil, capabilities };
}

async function revoke(transport: Transport, grantId: string, call: CallOptions) {
  if (!isGrantId(grantId)) throw new SvcError('invalid-argument', 'not a Grant id');
  const answer = await transport.send({
    method: 'POST',
    path: '/revoke',
    body: { grant_id: grantId },
    hasEffect: true,
    maxAttempts: REVOKE_ATTEMPTS,
    ...call,
  });
  const response = parseRevokeResponse(answer.body);
  if (response.grant_id !== grantId) {
    throw new SvcError('bad-response', 'the service answered about another Grant', answer);
  }
  return { grantId, revokedAt: response.revoked_at };
}

async function* list(
  fetchPage: (cursor: { cursor?: string }) => Promise<GrantList>,
): AsyncGenerator<GrantSummary, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page = await fetchPage(cursor === null ? {} : { cursor });
    yield* page.grants;
    cursor = page.next_cursor;
    if (cursor !== null && seen.has(cursor))
      throw new SvcError('bad-response', 'the list leads back into itself');
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
}
