import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

describe('The rate limiter', () => {
  it('allows exactly the limit in each clock window, and peek predicts take', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(30_000), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (steps, limit) => {
          const clock = { ms: 1_000_000, nowMs: () => clock.ms };
          const limiter = new RateLimiter(clock);
          const allowed = new Map<number, number>();
          const asked = new Map<number, number>();
          for (const step of steps) {
            clock.ms += step;
            const window = Math.floor(clock.ms / 60_000);
            asked.set(window, (asked.get(window) ?? 0) + 1);
            const expected = limiter.peek('key', limit);
            const allowance = limiter.take('key', limit);
            expect(allowance).toEqual(expected);
            if (allowance.allowed) allowed.set(window, (allowed.get(window) ?? 0) + 1);
            expect(allowance.resetSeconds).toBeGreaterThanOrEqual(1);
            expect(allowance.resetSeconds).toBeLessThanOrEqual(60);
          }
          for (const [window, count] of asked) expect(allowed.get(window)).toBe(Math.min(count, limit));
        },
      ),
    );
  });

  it('stores a bounded number of keys: further keys share one count, stored keys keep their own', () => {
    const clock = { nowMs: () => 0 };
    const limiter = new RateLimiter(clock, 3);
    for (const key of ['a', 'b', 'c']) expect(limiter.take(key, 2).remaining).toBe(1);
    expect(limiter.take('d', 2).remaining).toBe(1);
    expect(limiter.take('e', 2).remaining).toBe(0);
    expect(limiter.take('f', 2).allowed).toBe(false);
    expect(limiter.take('a', 2)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('counts several calls at once, all or none', () => {
    const limiter = new RateLimiter({ nowMs: () => 0 });
    expect(limiter.take('a', 10, 7)).toMatchObject({ allowed: true, remaining: 3 });
    expect(limiter.take('a', 10, 4)).toMatchObject({ allowed: false, remaining: 3 });
    expect(limiter.take('a', 10, 3)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.take('a', 10)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('supports windows of an hour', () => {
    const clock = { ms: 3_599_000, nowMs: () => clock.ms };
    const limiter = new RateLimiter(clock, undefined, 'hour');
    expect(limiter.take('a', 1)).toMatchObject({ allowed: true, resetSeconds: 1, window: 'hour' });
    clock.ms = 3_600_000;
    expect(limiter.take('a', 1)).toMatchObject({ allowed: true, resetSeconds: 3_600 });
    clock.ms += 60_000;
    expect(limiter.take('a', 1)).toMatchObject({ allowed: false, resetSeconds: 3_540 });
  });

  it('starts a new window when the clock steps back into an earlier one', () => {
    const clock = { ms: 120_000, nowMs: () => clock.ms };
    const limiter = new RateLimiter(clock);
    limiter.take('a', 1);
    expect(limiter.take('a', 1).allowed).toBe(false);
    clock.ms = 59_999;
    expect(limiter.take('a', 1)).toMatchObject({ allowed: true, resetSeconds: 1 });
  });
});
