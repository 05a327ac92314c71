/** Counts of parts of cold days have exactly the columns asked for, and are bounded. */
import { packDays } from '@svc/cold-ledger';
import { DAY_MS, dayOf } from '@svc/protocol';
import { TooManyCountsError } from '@svc/service';
import {
  coldPlaceOf,
  createColdWorld,
  DUE,
  PRINCIPALS,
  packingOf,
  type Receipt,
  RPS,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { withSession } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';
import { databaseOn } from '../../test/database-on.ts';
import { ColdReader, ReadTime } from './cold-reader.ts';
import { type CountedColumn, type CountedRows, type Counting, withColdCounts } from './count-days.ts';

const START_MS = Date.parse(DUE[0] ?? '');
/** From within the first cold day to within the last one. */
const RANGES = [
  [START_MS + DAY_MS / 4, START_MS + DAY_MS],
  [START_MS + 2 * DAY_MS, START_MS + 2.75 * DAY_MS],
] as const;

const stores = withStores();
const openFolder = withObjectFolders();
let world: readonly Receipt[];
let cold: ColdReader;
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
  const objects = await openFolder();
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
  cold = new ColdReader(coldPlaceOf(objects));
});

const count = (counting: Counting): Promise<readonly CountedRows[]> =>
  withSession(stores.url, (session) =>
    withColdCounts(
      { database: databaseOn(session), cold, time: new ReadTime() },
      counting,
      async (rows) => rows,
    ),
  );

const columnOf = ({ at, principal, key, reason }: Receipt, column: CountedColumn) =>
  ({ day: dayOf(at), principal, key_id: key, reason })[column] ?? null;

/** Counts over the world, as text in no particular order. */
const expected = (columns: readonly CountedColumn[], isAsked: (receipt: Receipt) => boolean): string[] => {
  const groups = new Map<string, number>();
  for (const receipt of world) {
    if (!RANGES.some(([from, to]) => receipt.at >= from && receipt.at < to) || !isAsked(receipt)) continue;
    const name = JSON.stringify(columns.map((column) => columnOf(receipt, column)));
    groups.set(name, (groups.get(name) ?? 0) + 1);
  }
  return [...groups].map(([name, verifies]) => `${name} ${verifies}`).sort();
};

const asText = (rows: readonly CountedRows[], columns: readonly CountedColumn[]): string[] =>
  rows.map((row) => `${JSON.stringify(columns.map((column) => row[column]))} ${row.verifies}`).sort();

const ALL = { relyingParties: null };
const COLUMNS: readonly (readonly CountedColumn[])[] = [
  ['reason'],
  ['day', 'reason'],
  ['day', 'key_id', 'reason'],
  ['principal', 'reason'],
];

it('a count has one row per combination of the requested columns, whatever else the decisions differ in', async () => {
  const big = { relyingParties: RPS.slice(0, 1), principal: PRINCIPALS[0] };
  for (const columns of COLUMNS) {
    const rows = await count({ filter: ALL, columns, ranges: RANGES });
    expect(asText(rows, columns)).toEqual(expected(columns, () => true));
    for (const row of rows) expect(Object.keys(row).sort()).toEqual([...columns, 'verifies'].sort());
    const narrowed = await count({ filter: big, columns, ranges: RANGES });
    const right = expected(columns, ({ rp, principal }) => rp === RPS[0] && principal === PRINCIPALS[0]);
    expect(right.length).toBeGreaterThan(0);
    expect(asText(narrowed, columns)).toEqual(right);
  }
});

it('a count with more groups than the bound is refused, and the error says what to ask for instead', async () => {
  for (const columns of COLUMNS) {
    const groups = expected(columns, () => true).length;
    const counting = { filter: ALL, columns, ranges: RANGES };
    expect(await count({ ...counting, maxGroups: groups })).toHaveLength(groups);
    const refused = count({ ...counting, maxGroups: groups - 1 });
    await expect(refused).rejects.toThrow(TooManyCountsError);
    await expect(refused).rejects.toThrow(/must be at 00:00 UTC/);
  }
});
