/**
 * Grants (interface §Principal lifecycle): reserve and sign, revoke, list. The signing key never leaves the signer. The
 * service sees a Grant only when a relying party presents it.
 */
import type { Signer } from '@svc/codec';
import {
  type Capability,
  formatTimestamp,
  GRANT_MAX_VALIDITY_MS,
  type GrantId,
  isGrantId,
  parseGrant,
  ulidOf,
  ulidTimeMs,
} from '@svc/protocol';
import {
  type CallOptions,
  type ConsumptionEvent,
  type CredentialStatus,
  checkValue,
  type GrantConsumption,
  type GrantList,
  type GrantSummary,
  iteratePages,
  readGrantAllocation,
  readGrantConsumption,
  readGrantList,
  readRevokeResponse,
  rule,
  SvcError,
  type Transport,
  unexpected,
} from '@svc/sdk-core';
import {
  type AskedGrant,
  buildGrantDraft,
  type GrantDraft,
  type GrantRequest,
  readGrantRequest,
  signGrant,
  wholeSecond,
} from './grant-draft.ts';
import type { Patience } from './patience.ts';

/** A signed Grant. Times are RFC 3339 in UTC, whole seconds. */
export interface IssuedGrant {
  /** The signed Grant, to give to the Agent. It is useless without the Agent's key. */
  grant: string;
  grantId: string;
  issuer: string;
  agent: string;
  validFrom: string;
  validUntil: string;
  capabilities: readonly Capability[];
}

/** Which Grants to list. An absent member does not restrict the list. */
export interface GrantFilter {
  /** The Agent's did:key. */
  agent?: string;
  state?: 'active' | 'revoked';
  /** Items per page, 1–200. */
  limit?: number;
}

/** The Principal's own Grants. */
export interface Grants {
  /**
   * Reserves an id and a status entry, then signs the Grant locally. A reservation whose Grant is never signed
   * authorises nothing.
   * @throws SvcError `invalid-argument` before anything is sent. `configuration` if `validFrom` is not given and this
   * computer's clock differs from the service's by more than five minutes; nothing is signed
   * @example
   * const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD' })];
   * const { grant, grantId } = await client.grants.issue({ agent: agent.did, capabilities });
   */
  issue(request: GrantRequest, options?: CallOptions): Promise<IssuedGrant>;
  /**
   * Returns once the revocation is in force everywhere: no ALLOW is dated after `revokedAt`. Repeatable.
   * @throws SvcError after a bounded number of attempts. The Grant may then still be in force, so call again.
   */
  revoke(grantId: string, options?: CallOptions): Promise<{ grantId: string; revokedAt: string }>;
  /** Every matching Grant, newest first. Pages are fetched as the list is consumed. */
  list(filter?: GrantFilter, options?: CallOptions): AsyncGenerator<GrantSummary, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(filter?: GrantFilter & { cursor?: string }, options?: CallOptions): Promise<GrantList>;
  /**
   * Every entry in the log of the Grant's budgets, newest first: what verifications used up, what outcomes gave back.
   * Pages are fetched as the list is consumed.
   */
  consumption(
    grantId: string,
    page?: { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<ConsumptionEvent, void, undefined>;
  /**
   * What is left of the Grant's budgets, and one page of their log. `cursor`: the `next_cursor` of the previous page.
   */
  consumptionPage(
    grantId: string,
    page?: { limit?: number; cursor?: number },
    options?: CallOptions,
  ): Promise<GrantConsumption>;
}

/** What `issue` needs besides the transport. */
export interface GrantSigning {
  signer?: Signer;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

const aGrantId = rule("a Grant's id, urn:svc:grant: and 26 characters, not the Grant", isGrantId);

export function createGrants(transport: Transport, signing: GrantSigning, patience: Patience): Grants {
  const page: Grants['page'] = async (filter = {}, call = {}) => {
    const query = { ...filter };
    const answer = await transport.send({ method: 'GET', path: '/grants', query, hasEffect: false, ...call });
    return readGrantList(answer.body, 'the page');
  };
  return {
    issue: (request, call = {}) => issueGrant(transport, signing, request, call),
    revoke: (grantId, call = {}) => revoke(transport, grantId, { ...patience, ...call }),
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ grants }) => grants,
      ),
    page,
    consumption: (grantId, { limit } = {}, call = {}) => consumption(transport, grantId, limit, call),
    consumptionPage: (grantId, query = {}, call = {}) => consumptionPage(transport, grantId, query, call),
  };
}

/** @throws SvcError if no Grant allocated at that time, in milliseconds since the epoch, should be signed */
export type AllocationCheck = (allocatedMs: number) => void;

/**
 * As `Grants.issue`. If the request does not say when the Grant begins, it begins one second before its allocation, and
 * `checkAllocated` is called with the time of the allocation.
 */
export async function issueGrant(
  transport: Transport,
  { signer, now = Date.now }: GrantSigning,
  request: GrantRequest,
  call: CallOptions,
  checkAllocated: AllocationCheck = agreesWith(now),
): Promise<IssuedGrant> {
  if (signer === undefined) throw new SvcError('configuration', 'issuing a Grant needs a signer');
  const asked = readGrantRequest(request);
  const { agent: wanted } = await buildGrantDraft(asked, signer.kid, now());
  const body = { agent: wanted };
  const answer = await transport.send({ method: 'POST', path: '/grants', body, hasEffect: true, ...call });
  const allocation = readGrantAllocation(answer.body, 'the allocation');
  checkStatusEntry(allocation.credentialStatus);
  const allocatedMs = allocatedAt(allocation.id);
  if (asked.validFromMs === null) checkAllocated(allocatedMs);
  const draft = await draftAllocated(asked, signer.kid, allocatedMs);
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
  const signed = parseGrant(grant);
  if (!signed.ok)
    throw new SvcError('bad-response', `the allocation makes no valid Grant: ${signed.problem}`);
  const { capabilities } = signed.value;
  const { issuer, agent, validFrom, validUntil } = draft;
  return { grant, grantId: allocation.id, issuer, agent, validFrom, validUntil, capabilities };
}

/** Greatest tolerated difference between this computer's clock and the service's. */
const CLOCKS_APART_MS = 300_000;
/**
 * A node's clock may be behind another node's by the transit time of the database's answers. A Grant that begins this
 * much earlier is valid at once on every node.
 */
export const NODES_APART_MS = 1_000;

/**
 * If only the end is given, beginning one second before the allocation can make the Grant exceed 90 days. It then
 * begins up to one second after the allocation. If the clock that computed the end was further ahead, the Grant ends 90
 * days after that.
 */
async function draftAllocated(asked: AskedGrant, kid: string, allocatedMs: number): Promise<GrantDraft> {
  const { validFromMs, validUntilMs } = asked;
  const beginMs = allocatedMs - NODES_APART_MS;
  if (validFromMs !== null || validUntilMs === null) return buildGrantDraft(asked, kid, beginMs);
  if (validUntilMs <= allocatedMs)
    throw new SvcError(
      'configuration',
      `the Grant would end before it was allocated, at ${formatTimestamp(allocatedMs)} by the service's clock: is the clock here behind? Nothing was signed`,
    );
  const latestMs = wholeSecond(allocatedMs + NODES_APART_MS);
  const laterMs = Math.min(Math.max(beginMs, validUntilMs - GRANT_MAX_VALIDITY_MS), latestMs);
  const endMs = Math.min(validUntilMs, latestMs + GRANT_MAX_VALIDITY_MS);
  return buildGrantDraft({ ...asked, validUntilMs: endMs }, kid, laterMs);
}

/** When the Grant was allocated, by a node's clock. The Grant's id contains that time. */
function allocatedAt(grantId: string): number {
  const allocatedMs = ulidTimeMs(ulidOf(grantId as GrantId));
  if (allocatedMs === null) throw unexpected('the allocation.id', 'the id of a Grant');
  return allocatedMs;
}

/**
 * Refuses to sign if the clocks differ too much, whichever is wrong: the Grant would end at a time that was not meant.
 */
const agreesWith =
  (now: () => number): AllocationCheck =>
  (allocatedMs) => {
    const aheadMs = now() - allocatedMs;
    if (Math.abs(aheadMs) <= CLOCKS_APART_MS) return;
    const off = `${Math.floor(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    throw new SvcError(
      'configuration',
      `the clock here is ${off} the time at which the service allocated the Grant: set it, or give validFrom; nothing was signed`,
    );
  };

/** The entry will be signed, so its parts must agree. */
function checkStatusEntry({ id, statusListCredential, statusListIndex }: CredentialStatus): void {
  const isEntry =
    /^(0|[1-9][0-9]*)$/.test(statusListIndex) &&
    URL.canParse(statusListCredential) &&
    id === `${statusListCredential}#${statusListIndex}`;
  if (!isEntry) throw unexpected('the allocation.credentialStatus', 'a revocation status entry');
}

async function* consumption(
  transport: Transport,
  grantId: string,
  limit: number | undefined,
  call: CallOptions,
): AsyncGenerator<ConsumptionEvent, void, undefined> {
  const size = limit === undefined ? {} : { limit };
  for (let cursor: number | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? size : { ...size, cursor };
    const page: GrantConsumption = await consumptionPage(transport, grantId, query, call);
    yield* page.events;
    const next = page.next_cursor;
    if (next !== null && cursor !== undefined && next >= cursor)
      throw new SvcError('bad-response', 'the log leads back into itself');
    cursor = next;
  }
}

async function consumptionPage(
  transport: Transport,
  grantId: string,
  query: { limit?: number; cursor?: number },
  call: CallOptions,
): Promise<GrantConsumption> {
  checkValue('grantId', grantId, aGrantId);
  const path = `/grants/${encodeURIComponent(grantId)}/consumption`;
  const answer = await transport.send({
    method: 'GET',
    path,
    query: { ...query },
    hasEffect: false,
    ...call,
  });
  const page = readGrantConsumption(answer.body, 'the page');
  if (page.grant_id !== grantId)
    throw new SvcError('bad-response', 'the service answered about another Grant', answer);
  return page;
}

async function revoke(transport: Transport, grantId: string, call: CallOptions) {
  checkValue('grantId', grantId, aGrantId);
  const answer = await transport.send({
    method: 'POST',
    path: '/revoke',
    body: { grant_id: grantId },
    hasEffect: true,
    ...call,
  });
  const response = readRevokeResponse(answer.body, 'the revocation');
  if (response.grant_id !== grantId) {
    throw new SvcError('bad-response', 'the service answered about another Grant', answer);
  }
  return { grantId, revokedAt: response.revoked_at };
}
