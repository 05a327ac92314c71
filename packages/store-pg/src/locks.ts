import type { Database } from './database.ts';

/**
 * The advisory locks of the service. The first key is a space of this register. The second key says which lock in that
 * space: the hash of a text, unless stated otherwise. Functions in migrations contain these numbers. A number that a
 * release has used keeps its meaning, since nodes of two releases run side by side.
 */
export const LOCK_SPACES = {
  /**
   * DID of a Principal. Shared by commits. Exclusive for the barrier of anything that ends or pauses what the Principal
   * allows (a revocation, the kill switch, a compromised key, a pause, the loss of a verification), and for a transfer
   * of the DID.
   */
  principal: 1,
  /**
   * Days since 1970. Shared by commits. Exclusive for closing the day, sealing the ledger, reopening days that a clock
   * ahead had closed, and transferring a relying party.
   */
  day: 2,
  /** 0: creating partitions. */
  partitions: 3,
  /** 0: migrating. A session lock. */
  migration: 4,
  /** Domain whose next status list number is being taken. */
  statusListNumber: 5,
  /** Name of work that one node does at a time. A session lock. */
  exclusiveWork: 6,
  /** Id of the Receipt whose outcomes are reported. */
  outcomes: 7,
  /**
   * Id of an org. Shared by commits of its checks. Exclusive for commits that draw on a cap, and for a push of the
   * org's entitlement.
   */
  entitlement: 8,
  /** Id of a Grant. Exclusive for what changes its balances: commits and restores. */
  balances: 9,
  /**
   * Subject whose API keys are counted, or `members ` and the id of the org whose members are counted. 0: the fence's
   * beat.
   */
  counts: 10,
  /** 1: moving events into the log, 2: taking deliveries, 3: looking for verifiers of a Principal. */
  events: 11,
  /** Relying party whose access requests, or audience whose subscriptions, are counted. */
  audience: 12,
  /** DID of the Principal whose access requests are counted. */
  accessRequests: 13,
  /** URL of a status list, while revocations that the list does not show are recorded. Never waited for. */
  unlisted: 14,
  /** Org whose conformance runs are counted. */
  conformanceRuns: 15,
  /** Id of a Grant. Exclusive for commits that bind it. */
  bindings: 16,
  /** DID of a relying party and an Idempotency-Key. Exclusive for commits that claim the key. */
  idempotencyKeys: 17,
} as const;

/**
 * Waits for the lock of a text, which the transaction then holds until it ends, and runs `work`. A separate statement
 * takes the lock, so the snapshots of `work` are later than the lock and see what the former holder committed.
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
