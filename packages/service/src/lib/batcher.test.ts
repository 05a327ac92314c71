import { describe, expect, it } from 'vitest';
import { Batcher } from './batcher.ts';

/** A batch runner whose batches end when the test says so. */
const heldRunner = () => {
  const batches: {
    items: readonly number[];
    finish: (results?: readonly string[]) => void;
    fail: (e: Error) => void;
  }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      batches.push({ items, finish: (results = items.map(String)) => resolve(results), fail: reject });
    });
  return { batches, run };
};

const options = { maxBatch: 3, maxInFlight: 1, maxWaiting: 4 };

describe('a batcher', () => {
  it('sends a lone item at once', () => {
    const { batches, run } = heldRunner();
    void new Batcher(run, options).submit(1);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });

  it('gathers what comes while a batch is under way, up to the batch size, in order', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, options);
    const results = [1, 2, 3, 4, 5].map((item) => batcher.submit(item));
    batches[0]?.finish();
    await results[0];
    batches[1]?.finish();
    await results[3];
    batches[2]?.finish();
    expect(await Promise.all(results)).toEqual(['1', '2', '3', '4', '5']);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('gives each item its own result', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, { ...options, maxInFlight: 2 });
    const results = [6, 7, 8, 9].map((item) => batcher.submit(item));
    batches[1]?.finish(['second', 'third', 'fourth']);
    batches[0]?.finish(['first']);
    expect(await Promise.all(results)).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('sends a second batch beside one under way only when it is full', () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, { ...options, maxInFlight: 2 });
    for (const item of [1, 2, 3]) void batcher.submit(item);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
    void batcher.submit(4);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
  });

  it('fails every item of a failed batch and goes on with the next', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, options);
    const first = batcher.submit(1);
    const second = batcher.submit(2);
    batches[0]?.fail(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    batches[1]?.finish();
    await expect(second).resolves.toBe('2');
  });

  it('refuses an item when too many wait, and keeps those that do', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, options);
    const kept = [0, 1, 2, 3, 4].map((item) => batcher.submit(item));
    await expect(batcher.submit(5)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    batches[0]?.finish();
    await kept[0];
    batches[1]?.finish();
    await kept[1];
    batches[2]?.finish();
    expect(await Promise.all(kept)).toEqual(['0', '1', '2', '3', '4']);
  });

  it('where more waits than a batch takes, places go round the tenants, and no org fills the line', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, { ...options, maxWaiting: 20, maxWaitingOfOrg: 5 });
    const tenant = (org: string) => ({ crowd: 'tenants', org, subject: org }) as const;
    void batcher.submit(0);
    const flood = [1, 2, 3, 4, 5].map((item) => batcher.submit(item, tenant('flood')));
    await expect(batcher.submit(6, tenant('flood'))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const others = [7, 8].map((item) => batcher.submit(item, tenant(`org ${item}`)));
    batches[0]?.finish();
    await new Promise(setImmediate);
    expect(batches[1]?.items).toEqual([1, 7, 8]);
    batches[1]?.finish();
    await Promise.all(others);
    batches[2]?.finish();
    await flood[3];
    batches[3]?.finish();
    await Promise.all(flood);
    expect(batches.slice(2).map(({ items }) => items)).toEqual([[2, 3, 4], [5]]);
  });

  it('never resolves an item with nothing: a batch that answers too few fails those left over', async () => {
    const { batches, run } = heldRunner();
    const result = new Batcher(run, options).submit(1);
    batches[0]?.finish([]);
    await expect(result).rejects.toThrow('too few');
  });
});
