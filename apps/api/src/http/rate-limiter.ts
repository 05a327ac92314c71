/**
 * Fixed one-minute windows on the clock (interface §Limits, protocol §13), counted per node. The table is bounded:
 * when a window has met `maxKeys` keys, all further ones share one count, so a flood of addresses costs no memory and
 * cannot push out the counts of those already seen.
 */
import type { Clock } from '@svc/service';

const WINDOW_MS = 60_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export class RateLimiter {
  #window = Number.NaN;
  #counts = new Map<string, number>();
  #overflow = 0;

  constructor(
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly maxKeys = 100_000,
  ) {}

  /** Counts one request of `key` and says whether it is within `limit` per window. */
  take(key: string, limit: number): Allowance {
    const nowMs = this.#turn();
    const count = this.#countOf(key) + 1;
    if (this.#counts.has(key) || this.#counts.size < this.maxKeys) this.#counts.set(key, count);
    else this.#overflow = count;
    return allowanceOf(count, limit, nowMs);
  }

  /** What the next `take` would answer, without counting. */
  peek(key: string, limit: number): Allowance {
    const nowMs = this.#turn();
    return allowanceOf(this.#countOf(key) + 1, limit, nowMs);
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? (this.#counts.size < this.maxKeys ? 0 : this.#overflow);
  }

  /** Starts afresh when the clock is in another window, in whichever direction. */
  #turn(): number {
    const nowMs = this.clock.nowMs();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts = new Map();
      this.#overflow = 0;
    }
    return nowMs;
  }
}

const allowanceOf = (count: number, limit: number, nowMs: number): Allowance => ({
  allowed: count <= limit,
  limit,
  remaining: Math.max(0, limit - count),
  resetSeconds: Math.ceil((WINDOW_MS - (nowMs % WINDOW_MS)) / 1000),
});
