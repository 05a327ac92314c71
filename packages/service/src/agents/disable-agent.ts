/**
 * The kill switch (interface §POST /agents/{did}/disable): revokes every Grant of a Principal that names an Agent, in
 * the two phases of a revocation (protocol §9) with one barrier for all of them.
 *
 * The first phase commits every flag, every newly signed list and one audit row together. Then the barrier is passed
 * once, and its instant is written as `revoked_at`, outside the lock, since that is long work with many Grants. A crash
 * anywhere leaves the Grants denied; a repeated call finds what is unfinished and completes it.
 */
import type { DidKey, DidWeb, GrantId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import { setStatusBits } from '../grants/status-list.ts';
import { notYetVisible, passBarrier } from '../lib/barrier.ts';
import type { AgentRecord } from '../ports/agents.ts';
import type { GrantRecord } from '../ports/grants.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

export interface DisableRequest {
  readonly caller: Caller;
  readonly principal: DidWeb;
  readonly agent: DidKey;
  readonly requestId: string;
}

export interface DisabledAgent {
  readonly did: DidKey;
  /** No ALLOW of these Grants is dated later. */
  readonly disabledAtMs: number;
  /** Every Grant of the Principal naming the Agent, ascending; all are revoked. */
  readonly revokedGrants: readonly GrantId[];
}

/** Room for 100,000 Grants on a slow disk; one at a time holds one connection. */
const RECORD_DEADLINE_MS = 30_000;
const STAMP_CHUNK = 5_000;

/** Idempotent. `SERVICE_UNAVAILABLE`: recorded perhaps, not yet known to be visible; repeat the call. */
export const disableAgent = async (deps: ServiceDeps, request: DisableRequest): Promise<DisabledAgent> => {
  const { principal, agent: did } = request;
  const recorded = await deps.store.transaction((tx) => recordRevocations(deps, tx, request), {
    deadlineMs: RECORD_DEADLINE_MS,
  });
  const revokedGrants = recorded.grants.map(({ id }) => id);
  const finishedAtMs = finishedAt(recorded);
  if (finishedAtMs !== null) return { did, disabledAtMs: finishedAtMs, revokedGrants };
  const disabledAtMs = await passBarrier(deps, principal);
  await stamp(deps, recorded.grants, disabledAtMs);
  return { did, disabledAtMs, revokedGrants };
};

interface Recorded {
  /** As it is after this phase; null when it is not in the inventory. */
  readonly agent: AgentRecord | null;
  /** As they were before this call; ascending ids. */
  readonly grants: readonly GrantRecord[];
}

/**
 * The Principal is locked first, as an allocation does too: a Grant is allocated before this call and found by it, or
 * after. Grants are locked before lists, both in order, as every revocation does: none waits for another in a circle.
 */
const recordRevocations = async (
  deps: ServiceDeps,
  tx: Repositories,
  { caller, principal, agent: did, requestId }: DisableRequest,
): Promise<Recorded> => {
  await tx.principals.findForUpdate(principal);
  const grants = await tx.grants.listNamingAgentForUpdate(principal, did);
  const noted = await tx.agents.find(principal, did);
  if (noted === null && grants.length === 0) throw notFound(`No Agent ${did} of this Principal.`);
  const inForce = grants.filter(({ revocationRecordedAtMs }) => revocationRecordedAtMs === null);
  await tx.grants.recordRevocation(inForce.map(({ id }) => id));
  const lists = await revokeInLists(deps, tx, inForce);
  const changesNothing = inForce.length === 0 && noted?.disabledAtMs !== null;
  if (changesNothing) return { agent: noted, grants };
  const details = { principal, revoked_grants: inForce.length, status_lists: lists };
  await tx.audit.insert(
    auditEvent(deps, caller, { action: 'agent.disable', target: did, requestId, details }),
  );
  return { agent: await tx.agents.setDisabled(principal, did), grants };
};

/** Each list is signed once, whatever the number of its Grants. Answers how many lists that were. */
const revokeInLists = async (
  deps: ServiceDeps,
  tx: Repositories,
  grants: readonly GrantRecord[],
): Promise<number> => {
  const indexesByUrl = new Map<string, number[]>();
  for (const { statusListUrl, statusIndex } of grants) {
    const indexes = indexesByUrl.get(statusListUrl);
    if (indexes === undefined) indexesByUrl.set(statusListUrl, [statusIndex]);
    else indexes.push(statusIndex);
  }
  for (const url of [...indexesByUrl.keys()].sort()) {
    const list = await tx.statusLists.findForUpdate(url);
    if (list === null) throw internal(`no list ${url}`);
    await setStatusBits(deps, tx, list, indexesByUrl.get(url) ?? []);
  }
  return indexesByUrl.size;
};

/** When the last of the Grants was revoked, if all had been before this call; null when a stamp is missing. */
const finishedAt = ({ agent, grants }: Recorded): number | null => {
  let latestMs = agent?.disabledAtMs ?? 0;
  for (const { revokedAtMs } of grants) {
    if (revokedAtMs === null) return null;
    latestMs = Math.max(latestMs, revokedAtMs);
  }
  return latestMs;
};

const stamp = async (
  { store }: ServiceDeps,
  grants: readonly GrantRecord[],
  revokedAtMs: number,
): Promise<void> => {
  const ids = grants.filter((grant) => grant.revokedAtMs === null).map(({ id }) => id);
  try {
    for (let from = 0; from < ids.length; from += STAMP_CHUNK)
      await store.grants.setRevoked(ids.slice(from, from + STAMP_CHUNK), revokedAtMs);
  } catch (error) {
    throw error instanceof StoreError ? notYetVisible(error) : error;
  }
};
