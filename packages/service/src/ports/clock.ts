/** Storage of the clock: the database's time, and the mark, which is the latest time that any process has accepted. */

export interface ClockReading {
  /** Milliseconds since the epoch, fractions included. */
  readonly databaseMs: number;
  /** Null: no process has accepted a time yet. */
  readonly mark: ClockMark | null;
}

export interface ClockMark {
  readonly atMs: number;
  /**
   * Number of times that the operator has set the mark (`svc-admin clock repair`). When it changes, processes accept
   * the time.
   */
  readonly resets: number;
}

export interface ClockStore {
  read(): Promise<ClockReading>;
  /** Moves the mark forward to `ms`, never back. */
  advanceMark(ms: number): Promise<void>;
}
