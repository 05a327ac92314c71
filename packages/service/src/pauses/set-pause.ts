/**
 * Sets and lifts a pause (protocol §9), in the two phases of a revocation. The first phase raises the versions of
 * everything that the pause concerns, in the transaction that records it: every node evaluates again what was evaluated
 * before. The second phase waits for the decisions under way. Nothing is signed, and no other host is asked.
 */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { assertStillOf, lockLiveKey } from '../access/live-key.ts';
import { exclusiveKeyOfRelyingParty } from '../access/tenant.ts';
import { actorOf, auditEvent, SYSTEM, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { ChangedPause } from '../fence/records.ts';
import { logPause } from '../fence/revocation-log.ts';
import { awaitCommits, passBarrier } from '../grants/barrier.ts';
import type { PauseRecord, PauseTarget } from '../ports/pauses.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

export interface PauseOrder {
  readonly caller: Caller | SystemActor;
  readonly target: PauseTarget;
  readonly isPaused: boolean;
  readonly reason: string | null;
  readonly requestId: string | null;
}

/**
 * Deadline for a pause of the whole service, in which every relying party gets a new version: 1 s for some 10^5 of
 * them.
 */
const WHOLE_SERVICE_MS = 30_000;

export interface SetPause {
  /** Null: the target was never paused. */
  readonly record: PauseRecord | null;
  /**
   * After a pause, no ALLOW of the target has a later date. After its end, no DENY because of the pause has a later
   * date.
   */
  readonly atMs: number;
}

/**
 * Idempotent: a repeat changes neither the actor nor the reason nor the time. `SERVICE_UNAVAILABLE`: the change may be
 * recorded, but is not yet known to be visible; repeat the call.
 */
export const setPause = async (deps: ServiceDeps, order: PauseOrder): Promise<SetPause> => {
  const { target } = order;
  const { record, isChanged, sinceMs } = await recordInTime(deps, order);
  // The end of a pause is logged after the commit. If it were logged and not committed, a restore would lift a pause
  // that still stands.
  if (isChanged && record !== null && !record.isPaused) logPause(deps, record, sinceMs);
  if (record !== null && record.visibleAtMs !== null) return { record, atMs: record.visibleAtMs };
  return {
    record,
    atMs: record === null ? await waitForDecisions(deps, target) : await completePause(deps, record),
  };
};

/**
 * Records the change. A pause of the whole service locks the rows of all relying parties, so it is tried again when a
 * row was locked for long.
 */
const recordInTime = async (deps: ServiceDeps, order: PauseOrder): Promise<Recorded> => {
  const { scope } = order.target;
  const how = { lane: 'urgent', exclusiveKey: exclusiveKeyOf(order.target) } as const;
  const record = (tx: Repositories) => recordPause(deps, tx, order);
  if (scope !== 'service') return deps.store.transaction(record, how);
  for (const endsAtMs = performance.now() + WHOLE_SERVICE_MS; ; )
    try {
      return await deps.store.transaction(record, { ...how, deadlineMs: WHOLE_SERVICE_MS });
    } catch (error) {
      const isHeldUp = error instanceof StoreError && error.kind === 'lock_timeout';
      if (!isHeldUp || performance.now() >= endsAtMs) throw error;
    }
};

interface Recorded {
  readonly record: PauseRecord | null;
  readonly isChanged: boolean;
  readonly sinceMs: number;
}

const recordPause = async (
  deps: ServiceDeps,
  tx: Repositories,
  { caller, target, isPaused, reason, requestId }: PauseOrder,
): Promise<Recorded> => {
  const sinceMs = await tx.pauses.findOwnerSince(target);
  if (sinceMs === null) throw noOwner(target);
  const change = { ...target, isPaused, reason, actor: actorOf(caller) };
  const isChanged = await tx.pauses.set(change);
  if (isChanged === null) throw noOwner(target);
  const orgId = await lockOrgOf(tx, caller, target);
  if (isChanged) {
    const { scope, owner, subject } = target;
    const action = isPaused ? 'pause.set' : 'pause.lift';
    const details = { scope, owner, reason };
    await tx.audit.insert(auditEvent(deps, caller, { action, target: subject, requestId, orgId, details }));
  }
  const record = await tx.pauses.find(target);
  // A pause is logged before the commit. If it were committed and not logged, a restore would allow what was paused.
  if (isChanged && record?.isPaused) logPause(deps, record, sinceMs);
  return { record, isChanged, sinceMs };
};

/**
 * Called when the owner's row is locked. It refuses a key that was revoked, and a key of an org that the owner has
 * left. Returns the org that is paused, or whose member is paused.
 */
const lockOrgOf = async (
  tx: Repositories,
  caller: Caller | SystemActor,
  { scope, owner }: PauseTarget,
): Promise<OrgId | null> => {
  if (scope === 'org' || scope === 'service') {
    await lockLiveKey(tx, caller);
    return scope === 'org' ? (owner as OrgId) : null;
  }
  const repository = scope === 'relying_party' ? tx.relyingParties : tx.principals;
  const member = await repository.find(owner);
  assertStillOf(caller, member, owner);
  await lockLiveKey(tx, caller);
  return member?.orgId ?? null;
};

/** The second phase of a recorded change. `SERVICE_UNAVAILABLE`: not yet known to be visible. */
export const completePause = async (deps: ServiceDeps, record: PauseRecord): Promise<number> =>
  noteVisible(deps, record, await waitForDecisions(deps, record));

/**
 * Waits for the commits under way that the pause may concern. For a Principal and its Grants and Agents these are the
 * commits that hold the Principal's lock; every other pause may concern every commit.
 */
const waitForDecisions = (deps: ServiceDeps, target: PauseTarget): Promise<number> =>
  target.scope === 'grant' || target.scope === 'agent' || target.scope === 'principal'
    ? passBarrier(deps, target.owner as DidWeb)
    : awaitCommits(deps, exclusiveKeyOf(target));

const exclusiveKeyOf = ({ scope, owner }: PauseTarget): string =>
  scope === 'relying_party' ? exclusiveKeyOfRelyingParty(owner) : owner;

/**
 * Records when the change became visible; of concurrent calls the first instant stays. This only spares repeated calls
 * the barrier, so a failure changes nothing for this call.
 */
const noteVisible = async (
  { store, log }: ServiceDeps,
  record: PauseRecord,
  atMs: number,
): Promise<number> => {
  try {
    const note = (tx: Repositories) => tx.pauses.setVisible(record, atMs);
    return (await store.transaction(note, { lane: 'urgent' })) ?? atMs;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn('pause.not_noted', { scope: record.scope, subject: record.subject, error: error.message });
    return atMs;
  }
};

const noOwner = ({ scope, owner }: PauseTarget) => notFound(`No ${scope.replace('_', ' ')} of ${owner}.`);

/** Request id in the audit log. */
const RESTORE = 'svc-admin-restore';

/**
 * Repeats, in a restored database, the latest change of a pause that was kept beside the fence or logged, if it is
 * later than the database's own. The owner must be registered here since the same time as then.
 */
export const pauseAgain = async (deps: ServiceDeps, change: ChangedPause): Promise<boolean> => {
  if (!(await isToPauseAgain(deps, change))) return false;
  const { scope, owner, subject, isPaused, reason } = change;
  const target = { scope, owner, subject };
  await setPause(deps, { caller: SYSTEM, target, isPaused, reason, requestId: RESTORE });
  return true;
};

/** True when `pauseAgain` has something to do. Changes nothing. */
export const isToPauseAgain = async ({ store }: ServiceDeps, change: ChangedPause): Promise<boolean> => {
  if ((await store.pauses.findOwnerSince(change)) !== change.sinceMs) return false;
  const here = await store.pauses.find(change);
  return (here?.isPaused ?? false) !== change.isPaused && isLaterThan(here, change);
};

/** True when the change is later than the stored one. A change without a date counts as later only if it is a pause. */
const isLaterThan = (here: PauseRecord | null, { isPaused, changedAtMs }: ChangedPause): boolean =>
  changedAtMs === null ? isPaused : here === null || here.changedAtMs < changedAtMs;
