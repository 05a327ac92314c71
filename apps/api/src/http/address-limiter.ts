/**
 * Counts by client address. One client may hold enough addresses to fill any table of them. So a new address that finds
 * the table full is counted with the network around it, and with the next wider network where that table is full too. A
 * flood from some networks therefore takes nothing from an address of another.
 */
import { limiterKeyOf, NETWORK_WIDTHS } from './client-ip.ts';
import { type Allowance, RateLimiter } from './rate-limiter.ts';

export class AddressLimiter {
  /** One limiter for the address itself and one for each network around it. */
  readonly #widths: readonly RateLimiter[];

  constructor(...options: ConstructorParameters<typeof RateLimiter>) {
    this.#widths = Array.from({ length: NETWORK_WIDTHS }, () => new RateLimiter(...options));
  }

  /** Counts a call from `ip` and says whether it is within `limit` per window. */
  take(ip: string, limit: number): Allowance {
    const { limiter, key } = this.#countOf(ip);
    return limiter.take(key, limit);
  }

  /** What `take` would answer, without counting. */
  peek(ip: string, limit: number): Allowance {
    const { limiter, key } = this.#countOf(ip);
    return limiter.peek(key, limit);
  }

  /** True: `ip` shares its count with other addresses, because the table of addresses is full. */
  isShared(ip: string): boolean {
    return this.#countOf(ip).width > 0;
  }

  #countOf(ip: string): { readonly limiter: RateLimiter; readonly key: string; readonly width: number } {
    for (const [width, limiter] of this.#widths.entries()) {
      const key = limiterKeyOf(ip, width);
      if (width === NETWORK_WIDTHS - 1 || limiter.hasRoomFor(key)) return { limiter, key, width };
    }
    throw new Error('an address without a count');
  }
}
