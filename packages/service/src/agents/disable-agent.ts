/**
 * The kill switch (interface §POST /agents/{did}/disable): revokes every Grant of a Principal that names an Agent. It
 * has the two phases of a revocation (protocol §9), with one barrier for all Grants.
 *
 * The first phase commits all flags, all newly signed lists and one audit row together. When the signer of lists is
 * unavailable, it commits the rest without the lists, and the answer is 503 until a repeated call or the worker has
 * signed them. The second phase passes the barrier once and writes its instant as `revoked_at`. It does so outside the
 * lock, because with many Grants this takes long. A crash at any point leaves the Grants denied; a repeated call finds
 * what is unfinished and completes it.
 */
import type { DidKey, DidWeb, GrantId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { assertLiveKey, assertStillOf } from '../access/live-key.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound, ServiceError } from '../errors.ts';
import { logDisabledAgent, logRevocation } from '../fence/revocation-log.ts';
import { notYetVisible, passBarrier } from '../grants/barrier.ts';
import { type Entry, notSigned, revokeInLists } from '../grants/status-list.ts';
import type { AgentRecord } from '../ports/agents.ts';
import type { GrantRecord } from '../ports/grants.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

export interface DisableRequest {
  readonly caller: Caller | SystemActor;
  readonly principal: DidWeb;
  readonly agent: DidKey;
  readonly requestId: string;
}

export interface DisabledAgent {
  readonly did: DidKey;
  /** No ALLOW of these Grants has a later date. */
  readonly disabledAtMs: number;
  /** Every Grant of the Principal that names the Agent, in ascending order; all are revoked. */
  readonly revokedGrants: readonly GrantId[];
}

/** Enough for 100,000 Grants on a slow disk. Such transactions run one at a time, so they hold one connection. */
const RECORD_DEADLINE_MS = 30_000;
/** With more Grants the work takes the `bulk` lane, where it waits only for other long work. */
const GRANTS_OF_SHORT_WORK = 500;
const STAMP_CHUNK = 5_000;

type Lane = 'urgent' | 'bulk';

/**
 * Idempotent: a repeat locks and writes only what is new. `SERVICE_UNAVAILABLE`: the change may be recorded, but is not
 * yet known to be visible; repeat the call.
 */
export const disableAgent = async (deps: ServiceDeps, request: DisableRequest): Promise<DisabledAgent> => {
  const { principal, agent: did } = request;
  const lane = await laneFor(deps, request);
  const recorded = await deps.store.transaction((tx) => recordRevocations(deps, tx, request), {
    lane,
    exclusiveKey: principal,
    ...(lane === 'bulk' ? { deadlineMs: RECORD_DEADLINE_MS } : {}),
  });
  if (recorded.unsigned !== null) throw notYetVisible(recorded.unsigned);
  const revokedGrants = recorded.grants.map(({ id }) => id);
  const finishedAtMs = finishedAt(recorded);
  if (finishedAtMs !== null) return { did, disabledAtMs: finishedAtMs, revokedGrants };
  const disabledAtMs = await passBarrier(deps, principal);
  await stamp(deps, lane, recorded.grants, disabledAtMs);
  return { did, disabledAtMs, revokedGrants };
};

const laneFor = async ({ store }: ServiceDeps, { principal, agent }: DisableRequest): Promise<Lane> => {
  const atMost = GRANTS_OF_SHORT_WORK + 1;
  return (await store.grants.countNamingAgent(principal, agent, { atMost })) < atMost ? 'urgent' : 'bulk';
};

interface Recorded {
  /** The Agent's record after this phase; null when it is not in the inventory. */
  readonly agent: AgentRecord | null;
  /** Every Grant that names the Agent, by ascending id. */
  readonly grants: readonly Pick<GrantRecord, 'id' | 'revokedAtMs'>[];
  /** Why the lists do not contain the revocations yet; null when they do. */
  readonly unsigned: ServiceError | null;
}

/**
 * When there is something new, the Principal is locked first, as an allocation does too. So a Grant is either allocated
 * before this call, which then finds it, or after it. Grants are locked before lists, both in ascending order, as in
 * every revocation, so that no two transactions deadlock.
 */
const recordRevocations = async (
  deps: ServiceDeps,
  tx: Repositories,
  request: DisableRequest,
): Promise<Recorded> => {
  const { caller, principal, agent: did, requestId } = request;
  const noted = await tx.agents.find(principal, did);
  const inForceBefore = await tx.grants.countNamingAgent(principal, did, { atMost: 1, inForce: true });
  if (inForceBefore === 0 && noted?.disabledAtMs !== null) {
    const grants = await tx.grants.listNamingAgent(principal, did);
    if (noted === null && grants.length === 0) throw notFound(`No Agent ${did} of this Principal.`);
    const unstamped = await tx.grants.listUnstampedNamingAgent(principal, did);
    return { agent: noted, grants, ...(await publish(deps, tx, unstamped)) };
  }
  const locked = await tx.principals.findForUpdate(principal);
  if (locked !== null) assertStillOf(caller, locked, principal);
  // The key's row is not locked: this may take half a minute, and a stolen key must not delay its own revocation.
  await assertLiveKey(tx, caller);
  const inForce = await tx.grants.listInForceNamingAgentForUpdate(principal, did);
  logRevocation(deps, { principal, grant_ids: inForce.map(({ id }) => id) });
  const unstamped = await tx.grants.listUnstampedNamingAgent(principal, did);
  // The lists are signed before the flags are set. When a flag is set, the database notes each Grant whose bit is not
  // in its list, to be copied beside the fence.
  const { lists, unsigned } = await publish(deps, tx, [...unstamped, ...inForce]);
  await tx.grants.recordRevocation(inForce.map(({ id }) => id));
  const grants = await tx.grants.listNamingAgent(principal, did);
  const known = await tx.agents.find(principal, did);
  if (inForce.length === 0 && known?.disabledAtMs !== null) return { agent: known, grants, unsigned };
  if (locked !== null) logDisabledAgent(deps, locked, did);
  const orgId = locked?.orgId ?? null;
  const details = { principal, revoked_grants: inForce.length, status_lists: lists };
  await tx.audit.insert(
    auditEvent(deps, caller, { action: 'agent.disable', target: did, requestId, orgId, details }),
  );
  return { agent: await tx.agents.setDisabled(principal, did), grants, unsigned };
};

/**
 * Signs the lists in the same transaction, which goes on when the signer is unavailable. `lists`: number of lists
 * signed.
 */
const publish = async (deps: ServiceDeps, tx: Repositories, grants: readonly Entry[]) => {
  const signed = await revokeInLists(deps, tx, grants).catch(notSigned);
  return signed instanceof ServiceError ? { lists: 0, unsigned: signed } : { lists: signed, unsigned: null };
};

/** The instant at which the last of the Grants was revoked; null when a Grant has no `revoked_at` yet. */
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
  lane: Lane,
  grants: Recorded['grants'],
  revokedAtMs: number,
): Promise<void> => {
  const ids = grants.filter((grant) => grant.revokedAtMs === null).map(({ id }) => id);
  try {
    for (let from = 0; from < ids.length; from += STAMP_CHUNK) {
      const chunk = ids.slice(from, from + STAMP_CHUNK);
      await store.transaction((tx) => tx.grants.setRevoked(chunk, revokedAtMs), { lane });
    }
  } catch (error) {
    throw error instanceof StoreError ? notYetVisible(error) : error;
  }
};
