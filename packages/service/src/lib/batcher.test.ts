import { describe, expect, it } from 'vitest';
import type { Tenant } from '../ports/tenant.ts';
import { Batcher } from './batcher.ts';

/** A batch runner whose batches the test ends. */
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
  it('sends a single item at once', () => {
    const { batches, run } = heldRunner();
    void new Batcher(run, options).submit(1);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });

  it('collects items while a batch is under way, up to the batch size, in order', async () => {
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

  it('fails every item of a failed batch and continues with the next batch', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, options);
    const first = batcher.submit(1);
    const second = batcher.submit(2);
    batches[0]?.fail(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    batches[1]?.finish();
    await expect(second).resolves.toBe('2');
  });

  it('refuses an item if too many wait, and keeps those that wait', async () => {
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

  it('gives tenants turns if more items wait than a batch takes, and limits the waiting items of an org', async () => {
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

  it('looks at each waiting item a bounded number of times, however many wait', async () => {
    const WAITING = 8_192;
    let looks = 0;
    const countedTenant: Tenant = {
      crowd: 'tenants',
      subject: 'shop',
      get org() {
        looks += 1;
        return 'shop';
      },
    };
    const batcher = new Batcher(async (items: readonly number[]) => items.map(String), {
      maxBatch: 64,
      maxInFlight: 1,
      maxWaiting: WAITING,
    });
    await Promise.all(Array.from({ length: WAITING }, (_, i) => batcher.submit(i, countedTenant)));
    expect(looks).toBeLessThanOrEqual(8 * WAITING);
  });

  it('gives newcomers one share of a batch and at most half of the queue, however many orgs they have', async () => {
    const { batches, run } = heldRunner();
    const batcher = new Batcher(run, { maxBatch: 4, maxInFlight: 1, maxWaiting: 20 });
    const of = (crowd: Tenant['crowd'], org: string): Tenant => ({ crowd, org, subject: org });
    const all = [batcher.submit(0)];
    for (let i = 1; i <= 10; i++) all.push(batcher.submit(i, of('newcomers', `young ${i}`)));
    await expect(batcher.submit(11, of('newcomers', 'young 11'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    for (let i = 20; i < 24; i++) all.push(batcher.submit(i, of('tenants', `customer ${i}`)));
    for (let i = 0; i < 5; i++) {
      batches[i]?.finish();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(batches.map(({ items }) => items)).toEqual([
      [0],
      [1, 2, 20, 21],
      [3, 4, 22, 23],
      [5, 6, 7, 8],
      [9, 10],
    ]);
  });

  it('fails the items for which a batch returns no result', async () => {
    const { batches, run } = heldRunner();
    const result = new Batcher(run, options).submit(1);
    batches[0]?.finish([]);
    await expect(result).rejects.toThrow('too few');
  });
});
