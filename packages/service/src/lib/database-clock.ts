/**
 * The time that decisions are dated by: the database's, carried on by the process's monotonic clock between readings.
 * The commit refuses a decision dated ahead of the database (protocol §10), so a reading counts from the moment its
 * answer arrives: this clock may be behind by the time an answer travels, and is never ahead by it. A step of the
 * machine's wall clock changes nothing.
 */
import type { Clock, Log } from '../ports/platform.ts';
import { type Store, StoreError } from '../ports/store.ts';

const READ_EVERY_MS = 5_000;

export class DatabaseClock implements Clock {
  private readonly timer: NodeJS.Timeout;
  private reading: Promise<void> | null = null;

  private constructor(
    private readonly store: Pick<Store, 'now'>,
    private readonly log: Log,
    private databaseMs: number,
    private monotonicMs: number,
  ) {
    this.timer = setInterval(() => void this.resync(), READ_EVERY_MS).unref();
  }

  /** Rejects when the database cannot be asked. */
  static async start(store: Pick<Store, 'now'>, log: Log): Promise<DatabaseClock> {
    const databaseMs = await store.now();
    return new DatabaseClock(store, log, databaseMs, performance.now());
  }

  nowMs(): number {
    return Math.floor(this.databaseMs + (performance.now() - this.monotonicMs));
  }

  /** Reads the database's clock again; keeps the last reading when it cannot be asked. */
  resync(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async read(): Promise<void> {
    try {
      const databaseMs = await this.store.now();
      this.monotonicMs = performance.now();
      this.databaseMs = databaseMs;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.log.warn('clock.not_read', { error: error.message });
    }
  }
}
