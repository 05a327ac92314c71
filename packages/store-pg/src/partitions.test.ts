import { dayOf, encodeUlid } from '@svc/protocol';
import { awayFromMidnight } from '@svc/testkit';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, denyCommit } from '@svc/testkit/store/world';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureReceiptPartitions } from './partitions.ts';

const stores = withStores();

const partitionNames = async (): Promise<string[]> => {
  const rows = await runSql<{ name: string }>(
    stores.url,
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
};

const nameOf = (timeMs: number) => `receipts_${dayOf(timeMs).replaceAll('-', '')}`;

/** Drops the partitions, as if none had been created ahead for a week. */
async function dropPartitions(): Promise<void> {
  for (const name of await partitionNames()) await runSql(stores.url, `drop table ${name}`);
}

/** A store creates partitions as it opens, beside other work: on a slow machine perhaps while a test drops them. */
const untilStoresAreOpen = () =>
  vi.waitFor(() => {
    const pools = [stores.first, stores.second].flatMap((store) => store.describePools());
    expect(pools.filter(({ busy, waiting }) => busy + waiting > 0)).toEqual([]);
  }, 20_000);

describe('receipt partitions', () => {
  beforeAll(untilStoresAreOpen);

  it('cover yesterday to a week from now, and creating them again changes nothing', async () => {
    await awayFromMidnight(10_000);
    const today = Date.now();
    expect(await partitionNames()).toEqual(
      expect.arrayContaining(Array.from({ length: 9 }, (_, day) => nameOf(today + (day - 1) * 86_400_000))),
    );
    expect(await ensureReceiptPartitions(stores.url)).toBe(0);
  });

  it('are created once when several processes create them at the same time', async () => {
    await dropPartitions();
    const created = await Promise.all(Array.from({ length: 6 }, () => ensureReceiptPartitions(stores.url)));
    expect(created.reduce((sum, count) => sum + count)).toBe((await partitionNames()).length);
  });

  it('are created by a commit that finds none for its day', async () => {
    const world = await createWorld(stores.first);
    await dropPartitions();
    const batches = [stores.first, stores.second, stores.first].map((store) =>
      store.verify.commitDecisions([denyCommit(world), denyCommit(world)]),
    );
    expect((await Promise.all(batches)).flat()).toEqual(Array.from({ length: 6 }, () => 'STORED'));
    expect(await partitionNames()).toContain(nameOf(Date.now()));
  });

  it('store the jws column uncompressed and in line', async () => {
    const [row] = await runSql<{ options: string[]; storage: string }>(
      stores.url,
      `select c.reloptions as options, a.attstorage::text as storage from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'jws' where c.relname = $1`,
      [nameOf(Date.now())],
    );
    expect(row).toEqual({ options: ['toast_tuple_target=8160'], storage: 'e' });
  });

  it('begin at the lowest ULID of their instant, exact to the millisecond up to the year 2200', async () => {
    const instants = fc.sample(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), 200);
    const rows = await runSql<{ id: string }>(
      stores.url,
      `select svc_lowest_receipt_id(to_timestamp(ms / 1000.0)) as id
       from unnest($1::bigint[]) with ordinality as t (ms, ordinal) order by ordinal`,
      [instants],
    );
    expect(rows.map(({ id }) => id)).toEqual(
      instants.map((ms) => `drc_${encodeUlid(ms, new Uint8Array(10))}`),
    );
  });
});
