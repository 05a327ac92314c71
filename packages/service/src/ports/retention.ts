/**
 * Rows and fields that are kept for a time only, let go in small transactions. Each method is one of them. What time it is,
 * the database's clock says, but no later than `nowMs`.
 */

/** One step of a walk through a table: the rows it removed, and where the next step begins; null at the end. */
export interface Sweep {
  readonly removed: number;
  readonly next: number | null;
}

/** Tables that are walked through. */
export type Swept = 'spent_proofs' | 'idempotency_keys';

export interface RetentionStore {
  /** The end of a table, as `Sweep.next` counts. */
  endOf(table: Swept): Promise<number>;
  /** Forgets spent Proofs that expired over an hour ago, in the part of the table that begins at `from`, at first 0. */
  sweepSpentProofs(from: number, nowMs: number): Promise<Sweep>;
  /**
   * Removes idempotency keys that were claimed over an hour ago. One that is being claimed again is passed over, and no
   * claim waits for longer than the step.
   */
  sweepIdempotencyKeys(from: number, nowMs: number): Promise<Sweep>;
  /**
   * Clears the action fields of the next Receipts older than 7 years, at most `limit` (2 or more) of them. Answers how
   * many were passed, cleared already or not: fewer than `limit` when none is left.
   */
  clearOldActions(
    limit: number,
    nowMs: number,
  ): Promise<{ readonly passed: number; readonly cleared: number }>;
}
