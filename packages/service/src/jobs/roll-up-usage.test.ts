import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { rollUpUsage } from './roll-up-usage.ts';

/** A store that gives the listed answers in the order of the calls; a listed error is thrown. */
const storeOf = (seals: (boolean | Error)[], counts: number[]) => {
  const asked: string[] = [];
  const usage = {
    async seal() {
      asked.push('seal');
      const answer = seals.shift();
      if (answer instanceof Error) throw answer;
      return answer ?? true;
    },
    async countSealed() {
      asked.push('count');
      return counts.shift() ?? 0;
    },
  };
  return { deps: { store: { usage }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps, asked };
};
const never = new AbortController().signal;

describe('rollUpUsage', () => {
  it('counts until nothing is left, and seals again as long as a seal was partial', async () => {
    const { deps, asked } = storeOf([false, true], [10, 2, 0, 5, 0]);
    expect(await rollUpUsage(deps, never)).toEqual({ counted: 17 });
    expect(asked).toEqual(['seal', 'count', 'count', 'count', 'seal', 'count', 'count']);
  });

  it('counts what was sealed before if decisions under way hold the seal', async () => {
    const { deps } = storeOf([new StoreError('lock_timeout', 'busy')], [3]);
    expect(await rollUpUsage(deps, never)).toEqual({ counted: 3 });
  });

  it('counts fewer at a time after a timeout and then more again, so that it ends on a slow server, and fails if nothing can be counted', async () => {
    const inTime = 60;
    const limits: number[] = [];
    let left = 400;
    const countSealed = async (limit: number) => {
      limits.push(limit);
      if (Math.min(limit, left) > inTime) throw new StoreError('ambiguous', 'no answer within 2200 ms');
      const counted = Math.min(limit, left);
      left -= counted;
      return counted;
    };
    const { deps } = storeOf([true], []);
    Object.assign(deps.store.usage, { countSealed });
    expect(await rollUpUsage(deps, never)).toEqual({ counted: 400 });
    expect(Math.max(...limits)).toBeLessThanOrEqual(250);
    expect(limits.slice(0, 6)).toEqual([250, 125, 63, 32, 64, 32]);

    left = 400;
    const hopeless = async () => {
      throw new StoreError('ambiguous', 'no answer within 2200 ms');
    };
    Object.assign(deps.store.usage, { countSealed: hopeless });
    await expect(rollUpUsage(deps, never)).rejects.toThrow('no answer');
  });

  it('counts more at a time as long as they are counted in time', async () => {
    const limits: number[] = [];
    const { deps } = storeOf([true], []);
    const countSealed = async (limit: number) => {
      limits.push(limit);
      return limits.length > 6 ? 0 : limit;
    };
    Object.assign(deps.store.usage, { countSealed });
    await rollUpUsage(deps, never);
    expect(limits).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000, 2_000]);
  });

  it('fails if storage is unavailable', async () => {
    const { deps } = storeOf([new StoreError('unavailable', 'down')], []);
    await expect(rollUpUsage(deps, never)).rejects.toThrow('down');
  });

  it('begins no further step once it is stopped', async () => {
    const stop = new AbortController();
    const { deps, asked } = storeOf([false, false], [1, 1, 1]);
    const { usage } = deps.store;
    const countSealed = usage.countSealed.bind(usage);
    Object.assign(usage, {
      countSealed: (limit: number) => {
        stop.abort();
        return countSealed(limit);
      },
    });
    expect(await rollUpUsage(deps, stop.signal)).toEqual({ counted: 1 });
    expect(asked).toEqual(['seal', 'count']);
  });
});
