/**
 * Fixed windows on the clock, by default a minute long (interface §Limits, protocol §13), counted per node. Refused
 * calls are not counted. The table is limited: once a window has seen `maxKeys` keys, all further ones share one count.
 * So a flood of addresses costs no memory and cannot displace existing counts.
 */
import type { Clock } from '@svc/service';

const WINDOW_MS = { minute: 60_000, hour: 3_600_000 } as const;
export type Window = keyof typeof WINDOW_MS;

export interface Allowance {
  readonly allowed: boolean;
  /** Calls in one window. */
  readonly limit: number;
  readonly window: Window;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export class RateLimiter {
  #turned = Number.NaN;
  #counts = new Map<string, number>();
  #overflow = 0;

  constructor(
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly maxKeys = 100_000,
    private readonly window: Window = 'minute',
  ) {}

  /** Counts `calls` of `key`, all or none, and says whether they are within `limit` per window. */
  take(key: string, limit: number, calls = 1): Allowance {
    const allowance = this.peek(key, limit, calls);
    if (!allowance.allowed) return allowance;
    const count = this.#countOf(key) + calls;
    if (this.hasRoomFor(key)) this.#counts.set(key, count);
    else this.#overflow = count;
    return allowance;
  }

  /** What `take` would answer, without counting. */
  peek(key: string, limit: number, calls = 1): Allowance {
    const nowMs = this.#turn();
    const before = this.#countOf(key);
    const allowed = before + calls <= limit;
    return {
      allowed,
      limit,
      window: this.window,
      remaining: Math.max(0, limit - before - (allowed ? calls : 0)),
      resetSeconds: Math.ceil((this.#windowMs - (nowMs % this.#windowMs)) / 1000),
    };
  }

  /** True: `key` has its own count, or would get one. */
  hasRoomFor(key: string): boolean {
    this.#turn();
    return this.#counts.size < this.maxKeys || this.#counts.has(key);
  }

  get #windowMs(): number {
    return WINDOW_MS[this.window];
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? (this.#counts.size < this.maxKeys ? 0 : this.#overflow);
  }

  /** Starts anew when the clock is in another window, later or earlier. */
  #turn(): number {
    const nowMs = this.clock.nowMs();
    const turn = Math.floor(nowMs / this.#windowMs);
    if (turn !== this.#turned) {
      this.#turned = turn;
      this.#counts = new Map();
      this.#overflow = 0;
    }
    return nowMs;
  }
}
