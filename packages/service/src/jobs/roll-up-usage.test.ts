import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { rollUpUsage } from './roll-up-usage.ts';

/** Answers as listed, in the order in which they are asked for; an error is thrown. */
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

describe('rolling up', () => {
  it('counts until nothing is left, and seals again as long as that was a step of many', async () => {
    const { deps, asked } = storeOf([false, true], [10, 2, 0, 5, 0]);
    expect(await rollUpUsage(deps, never)).toEqual({ counted: 17 });
    expect(asked).toEqual(['seal', 'count', 'count', 'count', 'seal', 'count', 'count']);
  });

  it('counts what was sealed before when decisions under way hold the seal', async () => {
    const { deps } = storeOf([new StoreError('lock_timeout', 'busy')], [3]);
    expect(await rollUpUsage(deps, never)).toEqual({ counted: 3 });
  });

  it('fails when storage cannot be asked', async () => {
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
