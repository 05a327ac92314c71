import { describe, expect, it } from 'vitest';
import { EgressPool } from './egress-pool.ts';

const never = new AbortController().signal;

const deferred = () => {
  let release = () => {};
  const done = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { done, release };
};

describe('the egress pool', () => {
  it('lets no more run than its bound, the longest waiting first', async () => {
    const pool = new EgressPool(2, 10);
    const gates = Array.from({ length: 6 }, deferred);
    const started: number[] = [];
    const runs = gates.map(({ done }, i) =>
      pool.run(never, async () => {
        started.push(i);
        await done;
      }),
    );
    for (const [i, gate] of gates.entries()) {
      await Promise.resolve();
      expect(started.length - i).toBeLessThanOrEqual(2);
      gate.release();
      await runs[i];
    }
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('turns away what finds the queue full, and is whole again afterwards', async () => {
    const pool = new EgressPool(1, 1);
    const gate = deferred();
    const first = pool.run(never, () => gate.done);
    const second = pool.run(never, async () => 'second');
    await expect(pool.run(never, async () => 'third')).rejects.toMatchObject({ answer: { fault: 'busy' } });
    gate.release();
    await first;
    expect(await second).toBe('second');
    expect(await pool.run(never, async () => 'fourth')).toBe('fourth');
  });

  it('an aborted wait gives its place up and a failed task gives its place back', async () => {
    const pool = new EgressPool(1, 1);
    const gate = deferred();
    const first = pool.run(never, async () => {
      await gate.done;
      throw new Error('first');
    });
    const controller = new AbortController();
    const second = pool.run(controller.signal, async () => 'second');
    controller.abort(new Error('too late'));
    await expect(second).rejects.toThrow('too late');
    const third = pool.run(never, async () => 'third');
    gate.release();
    await expect(first).rejects.toThrow('first');
    expect(await third).toBe('third');
  });
});
