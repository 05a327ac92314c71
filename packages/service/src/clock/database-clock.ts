/**
 * The time by which decisions are dated: the database's time, extrapolated by the process's monotonic clock between
 * readings. The commit refuses a decision dated ahead of the database (protocol §10), so a reading counts from the
 * moment when its answer arrives. This clock may therefore be behind by the time that an answer travels, and is never
 * ahead by it.
 *
 * A slow answer (a busy process, a slow network) does not set this clock back. An earlier reading that agrees with the
 * answer is more precise, and a decision must not be dated before the registrations that it follows. A step of this
 * machine's wall clock changes nothing.
 *
 * A step of the database's clock is not followed (judge-clock.ts): this clock continues from the last accepted reading
 * and holds decisions. Otherwise it advances the deployment's high-water mark, which processes that start later compare
 * with.
 */
import { uptime } from 'node:os';
import type { Holds } from '../lib/holds.ts';
import type { ClockReading } from '../ports/clock.ts';
import type { Clock, Log } from '../ports/platform.ts';
import { type Store, StoreError } from '../ports/store.ts';
import { type Doubt, judgeClock, type Reference } from './judge-clock.ts';

const READ_EVERY_MS = 5_000;
const READ_IN_DOUBT_EVERY_MS = 1_000;
/** Slower readings are too imprecise to use. */
const MAX_READING_MS = 1_500;
/** The first reading has no earlier one to refine it, so it is repeated while it takes longer than this. */
const PRECISE_MS = 10;
const FIRST_READINGS = 5;
/** Maximum relative difference in speed of two machines' clocks: NTP corrects each by at most 500 ppm. */
const DRIFT = 0.001;

interface ClockDeps {
  readonly store: Pick<Store, 'clock'>;
  readonly holds: Pick<Holds, 'set'>;
  readonly log: Log;
}

export class DatabaseClock implements Clock {
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | null = null;
  private reference: Reference | null = null;
  private doubt: Doubt | null = null;
  /** The last accepted reading; the first reading while none is accepted. */
  private basis = { databaseMs: 0, monotonicMs: 0 };
  private isStopped = false;

  private constructor(private readonly deps: ClockDeps) {}

  /**
   * Rejects when the first reading of the database fails. When that reading is not accepted, decisions are held from
   * the start.
   */
  static async start(deps: ClockDeps): Promise<DatabaseClock> {
    const clock = new DatabaseClock(deps);
    let tookMs = await clock.read();
    const again = async () => {
      tookMs = await clock.read();
    };
    for (let left = FIRST_READINGS - 1; left > 0 && tookMs > PRECISE_MS; left--)
      await clock.orWarn('clock.not_read', again);
    clock.readLater();
    return clock;
  }

  nowMs(): number {
    const { databaseMs, monotonicMs } = this.basis;
    return Math.floor(databaseMs + (performance.now() - monotonicMs));
  }

  /**
   * Takes a new reading without refining it, since this clock may be ahead. Keeps the last one when the database cannot
   * be asked.
   */
  resync(): Promise<void> {
    this.reading ??= this.readOrWarn(false).finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private readLater(): void {
    if (this.isStopped) return;
    const waitMs = this.doubt === null ? READ_EVERY_MS : READ_IN_DOUBT_EVERY_MS;
    this.timer = setTimeout(() => void this.beat().finally(() => this.readLater()), waitMs).unref();
  }

  private async beat(): Promise<void> {
    await this.readOrWarn(true);
    if (this.doubt === null)
      await this.orWarn('clock.not_marked', () => this.deps.store.clock.advanceMark(this.nowMs()));
  }

  private readOrWarn(refines: boolean): Promise<void> {
    return this.orWarn('clock.not_read', () => this.read(refines));
  }

  private async orWarn(event: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.deps.log.warn(event, { error: error.message });
    }
  }

  /** Returns how long the reading took, in milliseconds. */
  private async read(refines = true): Promise<number> {
    const sentMs = performance.now();
    const reading = await this.deps.store.clock.read();
    const receivedMs = performance.now();
    const tookMs = receivedMs - sentMs;
    if (tookMs > MAX_READING_MS && this.reference !== null) return tookMs;
    const databaseMs = refines ? this.refine(reading.databaseMs, sentMs, receivedMs) : reading.databaseMs;
    this.judge({ ...reading, databaseMs }, sentMs, receivedMs);
    return tookMs;
  }

  /**
   * The database's time at `receivedMs`. It is at least the value read, and at most that plus the time the reading
   * took. Within these bounds it is the time extrapolated from the last accepted reading.
   */
  private refine(databaseMs: number, sentMs: number, receivedMs: number): number {
    if (this.reference === null || this.doubt !== null) return databaseMs;
    const passedMs = receivedMs - this.basis.monotonicMs;
    const expectedMs = this.basis.databaseMs + passedMs * (1 - DRIFT);
    const isPossible = expectedMs >= databaseMs && expectedMs <= databaseMs + (receivedMs - sentMs);
    return isPossible ? expectedMs : databaseMs;
  }

  private judge(reading: ClockReading, sentMs: number, receivedMs: number): void {
    const node = { nodeMs: Date.now(), uptimeMs: uptime() * 1000 };
    const judgement = judgeClock({ ...reading, ...node, sentMs, receivedMs }, this.reference, this.doubt);
    if (judgement.kind === 'accepted') {
      this.reference = judgement.reference;
      this.basis = judgement.reference;
      this.doubt = null;
    } else {
      this.doubt = judgement.doubt;
      if (this.reference === null) this.basis = { databaseMs: reading.databaseMs, monotonicMs: receivedMs };
    }
    this.deps.holds.set('clock', this.doubt?.reason ?? null);
  }
}
