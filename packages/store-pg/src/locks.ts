import type { Database } from './database.ts';

/**
 * The advisory locks of the service: the first key is a space of this register, the second says which one in it (the
 * hash of a text, if not otherwise said). Functions in migrations write the numbers; a number that a release has used
 * keeps its meaning, since nodes of two releases work side by side.
 */
export const LOCK_SPACES = {
  /**
   * DID of a Principal. Shared by commits. Exclusive to the barrier of whatever ends or pauses what it allows (a revocation, the
   * kill switch, a compromised key, a pause, the loss of a verification), and to a transfer of the DID.
   */
  principal: 1,
  /**
   * Days since 1970. Shared by commits. Exclusive to whoever closes the day, seals the ledger, opens days again that a clock
   * ahead had closed, or transfers a relying party.
   */
  day: 2,
  /** 0: creating partitions. */
  partitions: 3,
  /** 0: migrating. Of the session. */
  migration: 4,
  /** Domain whose next status list number is taken. */
  statusListNumber: 5,
  /** Name of work that one node does at a time. Of the session. */
  exclusiveWork: 6,
  /** Id of the Receipt whose outcomes are reported. */
  outcomes: 7,
  /** Id of an org. Shared by commits of its checks, exclusive to those that draw on a cap, and to a push of its entitlement. */
  entitlement: 8,
  /** Id of a Grant. Exclusive to whoever moves its balances: commits and restores. */
  balances: 9,
  /** Subject whose API keys are counted, or `members ` and the id of the org whose members are. 0: the fence's beat. */
  counts: 10,
  /** 1: moving events into the log, 2: taking deliveries, 3: looking for verifiers of a Principal. */
  events: 11,
  /** Relying party whose access requests, or audience whose subscriptions, are counted. */
  audience: 12,
  /** DID of the Principal whose access requests are counted. */
  accessRequests: 13,
  /** URL of a status list of which revocations are noted that it does not say. Never waited for. */
  unlisted: 14,
  /** Org whose conformance runs are counted. */
  conformanceRuns: 15,
  /** Id of a Grant. Exclusive to commits that bind it. */
  bindings: 16,
  /** DID of a relying party and an Idempotency-Key. Exclusive to commits that claim it. */
  idempotencyKeys: 17,
} as const;

/**
 * Waits for the lock of a text, which the transaction then holds until it ends, and runs `work`. The lock is taken by a statement
 * of its own: what `work` reads has a snapshot from after the lock, so what was waited for is seen.
 */
export const afterLock = async <T>(
  database: Database,
  space: keyof typeof LOCK_SPACES,
  text: string,
  work: () => Promise<T>,
): Promise<T> => {
  const lock = `select pg_advisory_xact_lock(${LOCK_SPACES[space]}, hashtext($1))`;
  await database.write({ text: lock, values: [text] });
  return work();
};
