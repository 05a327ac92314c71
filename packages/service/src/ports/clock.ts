/** The database's clock and the deployment's high-water mark: the latest time that its processes have accepted. */

export interface ClockReading {
  /** Milliseconds since the epoch, fractions included. */
  readonly databaseMs: number;
  /** Null: no process has accepted a time yet. */
  readonly mark: ClockMark | null;
}

export interface ClockMark {
  readonly atMs: number;
  /** Number of times the operator has set the mark (`svc-admin clock repair`). A new number makes processes accept the time. */
  readonly resets: number;
}

export interface ClockStore {
  read(): Promise<ClockReading>;
  /** Moves the mark up to `ms`, never back. */
  advanceMark(ms: number): Promise<void>;
}
