import type { Sha256 } from '@svc/protocol';
import { ObjectStoreError, StoreError } from '@svc/service';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createColdStoreHealth } from './cold-store-health.ts';

const HASH = `sha256:${'1'.repeat(64)}` as Sha256;
const ANOTHER =
  'the store has no manifest of 2026-01-01, which was packed last: SVC_COLD must name the store that it was packed into';

/** `head` of the store, and the answer of the database; both count their calls. */
const open = (head: () => Promise<number | null>, listLatestManifests = async () => [PACKED]) => {
  const registry = new Registry();
  const warned: string[] = [];
  let looks = 0;
  let ms = 1_000;
  const coldDays = {
    listLatestManifests: () => {
      looks += 1;
      return listLatestManifests();
    },
  };
  const health = createColdStoreHealth(registry, {
    ...{ objects: { head }, store: { coldDays }, nowMs: () => ms },
    log: { warn: (event, { problem }) => warned.push(`${event}: ${problem}`) },
  });
  const pass = (by: number) => {
    ms += by;
  };
  /** The description after the check that the first call starts. */
  const describe = async () => {
    await health.describe();
    await new Promise(setImmediate);
    return health.describe();
  };
  const metric = async () => Number(/^svc_cold_store_known (-?\d+)$/m.exec(await registry.metrics())?.[1]);
  return { health, describe, metric, warned, looks: () => looks, pass };
};
const PACKED = { day: '2026-01-01', manifestHash: HASH };

it('the store that days were packed into is ok, and so is any store if no day was packed', async () => {
  for (const one of [
    open(async () => 100),
    open(
      async () => null,
      async () => [],
    ),
  ]) {
    expect(await one.describe()).toBe('ok');
    expect(await one.metric()).toBe(1);
    expect(one.warned).toEqual([]);
  }
});

it('another store is reported, and logged once, until the right one is there', async () => {
  let size: number | null = null;
  const other = open(async () => size);
  expect(await other.describe()).toContain(ANOTHER);
  expect(await other.metric()).toBe(-1);
  // The store is checked once a minute, however often the description is read.
  expect(other.looks()).toBe(1);
  other.pass(60_001);
  expect(await other.describe()).toContain(ANOTHER);
  expect(other.looks()).toBe(2);
  expect(other.warned).toEqual([expect.stringContaining(`cold.another_store: ${ANOTHER}`)]);
  size = 100;
  other.pass(60_001);
  expect(await other.describe()).toBe('ok');
  expect(await other.metric()).toBe(1);
  expect(other.warned).toHaveLength(1);
});

it('a store that does not answer is reported with its error, and a database that does not answer as unknown', async () => {
  const away = open(() => Promise.reject(new ObjectStoreError('unavailable', 'no such bucket')));
  expect(await away.describe()).toBe('no such bucket');
  expect(await away.metric()).toBe(-1);
  expect(away.warned).toEqual(['cold.another_store: no such bucket']);
  const blind = open(
    async () => 100,
    () => Promise.reject(new StoreError('unavailable', 'gone')),
  );
  expect(await blind.describe()).toBe('unknown');
  expect(await blind.metric()).toBe(0);
  expect(blind.warned).toEqual([]);
});

it('describe does not wait for a slow store', async () => {
  let answer = (_size: number) => {};
  const slow = open(() => new Promise((resolve) => (answer = resolve)));
  expect([await slow.health.describe(), await slow.metric()]).toEqual(['unknown', 0]);
  await new Promise(setImmediate);
  answer(100);
  await new Promise(setImmediate);
  expect([await slow.health.describe(), await slow.metric()]).toEqual(['ok', 1]);
});
