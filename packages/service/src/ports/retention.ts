/**
 * Removal of rows and fields that are kept for a limited time. Each method is one small transaction. The time is that
 * of the database's clock, but no later than `nowMs`.
 */

/** One step of a walk through a table: the number of removed rows, and where the next step begins (null at the end). */
export interface Sweep {
  readonly removed: number;
  readonly next: number | null;
}

/** Tables that are walked step by step. */
export type Swept = 'spent_proofs' | 'idempotency_keys';

export interface RetentionStore {
  /** The end of a table, in the unit of `Sweep.next`. */
  endOf(table: Swept): Promise<number>;
  /** Removes spent Proofs that expired over an hour ago, in the part of the table that begins at `from` (first: 0). */
  sweepSpentProofs(from: number, nowMs: number): Promise<Sweep>;
  /**
   * Removes idempotency keys that were claimed over an hour ago. A key that is being claimed again is skipped. A claim
   * waits no longer than this step takes.
   */
  sweepIdempotencyKeys(from: number, nowMs: number): Promise<Sweep>;
  /**
   * Clears the action fields of the next Receipts older than 7 years, at most `limit` (2 or more). `passed` includes
   * Receipts that were cleared already; it is less than `limit` when none is left.
   */
  clearOldActions(
    limit: number,
    nowMs: number,
  ): Promise<{ readonly passed: number; readonly cleared: number }>;
}
