/** The seal and the sums below it (migrations/0001-foundation/07-usage.sql), with no margin between now and the seal. */
import { randomInt } from 'node:crypto';
import { DAY_MS } from '@svc/protocol';
import type { Store } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, denyCommit, type World } from '@svc/testkit/store/world';
import type pg from 'pg';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { lowestReceiptId } from './receipt-ids.ts';
import { dayStatement, totalStatement } from './repositories/usage-statements.ts';
import type { Statement } from './statement.ts';
import { commitStatement } from './verify/commit-parameters.ts';

const stores = withStores();
const node = (index: number): Store => (index % 2 === 0 ? stores.first : stores.second);
let world: World;

beforeAll(async () => {
  world = await createWorld(stores.first);
  await alterFunction(stores.url, 'svc_seal_ledger', `interval '3 seconds'`, `interval '0 seconds'`);
});

beforeEach(async () => {
  await sealAndCount(stores.first);
});

/** Later than now, so only the database's clock bounds the seal. */
const shortly = () => Date.now() + 60_000;

const sealAndCount = async (store: Store, limit = 10_000): Promise<number> => {
  let counted = 0;
  await store.usage.seal(shortly());
  for (let batch = limit; batch > 0; counted += batch) batch = await store.usage.countSealed(limit);
  return counted;
};

/** The bound from before anything was counted: too low, which must not change a result. */
const OLD_COUNT = lowestReceiptId(0);

/** Numbers of stored receipts, and the sums that readers add up, in one snapshot. */
const recount = (url: string) =>
  withSession(url, async (session) => {
    const add = async ({ text, values }: Statement) => {
      const days = (await session.query<{ verifies: string }>(text, [...values])).rows;
      return days.reduce((sum, { verifies }) => sum + Number(verifies), 0);
    };
    await session.query('begin isolation level repeatable read');
    const [{ stored } = { stored: -1 }] = await rows<{ stored: number }>(
      session,
      'select count(*)::integer as stored from receipts',
    );
    const nowMs = Date.now();
    const filter = { sinceMs: nowMs - 2 * DAY_MS, untilMs: nowMs + 2 * DAY_MS, relyingParties: null };
    return {
      stored,
      total: await add(totalStatement({ orgs: [], subjects: [] }, OLD_COUNT)),
      byDay: await add(dayStatement(filter, { before: OLD_COUNT, coldCounts: [] })),
    };
  });

const rows = async <Row extends pg.QueryResultRow>(session: pg.Client, text: string): Promise<Row[]> =>
  (await session.query<Row>(text)).rows;

const inSums = async (): Promise<number> => {
  const [row] = await runSql<{ sum: number }>(
    stores.url,
    'select coalesce(sum(verifies), 0)::integer as sum from usage_counts',
  );
  return row?.sum ?? 0;
};

it('a decision evaluated before the seal and committed after it has the outcome CLOCK', async () => {
  const late = denyCommit(world);
  await nextMs(late.evaluatedAtMs);
  await stores.first.usage.seal(shortly());
  const fresh = denyCommit(world, { evaluatedAtMs: await databaseMs() });
  expect(await stores.second.verify.commitDecisions([late, fresh])).toEqual(['CLOCK', 'STORED']);
});

it('a commit under way delays the seal, and is counted after it ends', async () => {
  const before = await inSums();
  await withSession(stores.url, async (session) => {
    const { text, values } = commitStatement([denyCommit(world)]);
    await session.query('begin');
    await session.query(text, [...values]);
    await expect(stores.first.usage.seal(shortly())).rejects.toMatchObject({ kind: 'lock_timeout' });
    expect(await stores.first.usage.countSealed(100)).toBe(0);
    await session.query('commit');
  });
  await nextMs(await databaseMs());
  await sealAndCount(stores.first);
  expect(await inSums()).toBe(before + 1);
});

it('the seal never moves back', async () => {
  await runSql(stores.url, `update ledger_seal set sealed_until = svc_now() + interval '1 minute'`);
  try {
    expect(await stores.first.usage.seal(shortly())).toBe(true);
    expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['CLOCK']);
  } finally {
    await runSql(stores.url, 'update ledger_seal set sealed_until = svc_now()');
  }
});

it('a seal that is far behind moves up in steps', async () => {
  await runSql(stores.url, `update ledger_seal set sealed_until = svc_now() - interval '40 days'`);
  expect(await stores.first.usage.seal(shortly())).toBe(false);
  expect(await stores.first.usage.seal(shortly())).toBe(true);
});

it('an interrupted count counts nothing, and a concurrent one skips its rows', async () => {
  await stores.first.verify.commitDecisions([denyCommit(world), denyCommit(world)]);
  await nextMs(await databaseMs());
  await stores.first.usage.seal(shortly());
  const before = await inSums();
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    expect(await rows(session, 'select svc_count_usage(100) as counted')).toEqual([{ counted: '2' }]);
    expect(await stores.first.usage.countSealed(100)).toBe(0);
    await session.query('rollback');
  });
  expect(await inSums()).toBe(before);
  expect(await stores.first.usage.countSealed(100)).toBe(2);
  expect(await inSums()).toBe(before + 2);
});

it('with concurrent writers, sealers and counters, every decision is counted once and all sums are right', async () => {
  let isOver = false;
  let [stored, refused] = [0, 0];
  const write = async (store: Store) => {
    for (let round = 0; round < 60; round++) {
      const batch = Array.from({ length: randomInt(1, 5) }, () => denyCommit(world));
      for (const outcome of await store.verify.commitDecisions(batch))
        if (outcome === 'STORED') stored += 1;
        else if (outcome === 'CLOCK') refused += 1;
    }
  };
  const count = async (store: Store) => {
    while (!isOver) await sealAndCount(store, randomInt(1, 20)).catch(expectLockTimeout);
  };
  const read = async () => {
    while (!isOver) {
      const { stored: there, total, byDay } = await recount(stores.url);
      expect([total, byDay]).toEqual([there, there]);
    }
  };
  const before = await recount(stores.url);
  const others = [count(node(0)), count(node(1)), count(node(0)), read()];
  await Promise.all(Array.from({ length: 8 }, (_, index) => write(node(index))));
  isOver = true;
  await Promise.all(others);
  await nextMs(await databaseMs());
  await sealAndCount(stores.first);
  expect(stored).toBeGreaterThan(50);
  expect(stored + refused).toBeGreaterThan(400);
  const all = before.stored + stored;
  expect(await recount(stores.url)).toEqual({ stored: all, total: all, byDay: all });
  expect(await inSums()).toBe(all);
});

it('without the check of the seal, a decision is stored and never counted: the test can fail', async () => {
  await alterFunction(stores.url, 'svc_judge', 'or d.receipt_id < v_sealed_before', '');
  const late = denyCommit(world);
  await nextMs(late.evaluatedAtMs);
  await sealAndCount(stores.first);
  expect(await stores.second.verify.commitDecisions([late])).toEqual(['STORED']);
  const { stored, total } = await recount(stores.url);
  expect(total).toBe(stored - 1);
});

const databaseMs = async () => Math.floor(await stores.first.now());

/** Resolves once the database's clock is past this millisecond. */
const nextMs = async (ms: number): Promise<void> => {
  while ((await databaseMs()) <= ms);
};

const expectLockTimeout = (error: unknown): void => {
  expect(error).toMatchObject({ kind: 'lock_timeout' });
};
