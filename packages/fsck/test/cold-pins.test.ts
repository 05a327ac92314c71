/** What Receipts that are only in objects pin of their budgets. */
import { ColdDayReader, packDays, parseColdDay } from '@svc/cold-ledger';
import type { GrantId, Sha256 } from '@svc/protocol';
import type { ObjectStore } from '@svc/service';
import { awayFromMidnight, daysAgo, tamper } from '@svc/testkit';
import { HOT_DAYS, packingOf, recordKeys } from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';
import type { CheckContext } from '../src/check.ts';
import { namePins } from '../src/checks/cold-pins.ts';
import { consumptionCheck } from '../src/checks/consumption.ts';
import { PinSums } from '../src/checks/pin-sums.ts';
import { type Pin, pinOfReceipt } from '../src/checks/pins.ts';
import { readSigned } from '../src/checks/receipts.ts';
import { queryOn } from '../src/query.ts';
import { loadServiceKeys } from '../src/service-keys.ts';
import { createConsumingWorld, GRANTS, USES } from './consuming-world.ts';
import { findFaults } from './find-faults.ts';
import { OTHER_HASH } from './forged-days.ts';

await awayFromMidnight();
const stores = withStores();
const openFolder = withObjectFolders();
const day = daysAgo(HOT_DAYS + 1);
const [one, another, faulty] = GRANTS as [GrantId, GrantId, GrantId];
/** The version whose Receipt the service has signed with wrong balances. */
const FAULTY_VERSION = 5;
let objects: ObjectStore;

beforeAll(async () => {
  await createConsumingWorld(stores.url, stores.first, day, (grantId, version) =>
    grantId === faulty && version === FAULTY_VERSION - 1 ? OTHER_HASH : null,
  );
  objects = await openFolder();
  await recordKeys(stores.url);
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
  expect(await runSql(stores.url, 'select state from cold_days where day = $1', [day])).toEqual([
    { state: 'cold' },
  ]);
});

/** Faults that every Receipt has, because the world has no Grants, relying parties or evidence. */
const NOT_THERE = /never allocated|the Grant of its id|is not kept|not registered/;
const listFaults = async (place: ObjectStore | null = objects): Promise<string[]> => {
  const { faults } = await findFaults(stores.url, place ?? undefined);
  return faults
    .filter(({ problem }) => !NOT_THERE.test(problem))
    .map(({ check, where, problem }) => `${check}: ${where}: ${problem}`);
};
const differs = (grantId: string, version: number, problem: string) =>
  expect.stringMatching(`^cold-days: ${grantId}: version ${version}: drc_\\w+ ${problem}$`);
const OTHER_LIMITS = 'was given other limits';
const OTHER_BALANCES = 'pins other balances than those before it';
const found = [differs(faulty, FAULTY_VERSION, OTHER_BALANCES)];

it('fsck finds the cold Receipt that pins other balances than its log gives, and no other', async () => {
  expect(await listFaults()).toEqual(found);
});

const raisingLimits = async <T>(where: string, work: () => Promise<T>): Promise<T> => {
  const move = (by: string) =>
    tamper(stores.url, `update consumption_balances set limit_total = limit_total ${by} where ${where}`);
  await move('+ 1');
  return work().finally(() => move('- 1'));
};

it('fsck finds a raised limit of a budget whose Receipts are all cold, and only with the objects', async () => {
  const raised = await raisingLimits(`grant_id = '${one}'`, async () => [
    await listFaults(),
    await listFaults(null),
  ]);
  const versions = Array.from({ length: USES }, (_, i) => i + 1);
  const expected = versions.flatMap((version) => [
    differs(one, version, OTHER_LIMITS),
    ...(version === 1 ? [] : [differs(one, version, OTHER_BALANCES)]),
  ]);
  expect(raised[0]).toHaveLength(expected.length + found.length);
  expect(raised[0]).toEqual(expect.arrayContaining([...expected, ...found]));
  expect(raised[1]).toEqual([]);
});

it('fsck names twenty Receipts of a day, and counts the others', async () => {
  const faults = await raisingLimits('true', listFaults);
  expect(faults.filter((fault) => fault.endsWith(OTHER_LIMITS))).toHaveLength(20);
  expect(faults.at(-1)).toBe(
    `cold-days: ${day}: ${GRANTS.length * USES - 20} more of its Receipts differ from the logs of their budgets`,
  );
});

const readerOfDay = async (): Promise<ColdDayReader> => {
  const [row] = await runSql<{ manifest: string }>(
    stores.url,
    'select manifest from cold_days where day = $1',
    [day],
  );
  return new ColdDayReader(objects, parseColdDay(row?.manifest ?? ''));
};
const withContext = (work: (context: CheckContext, faults: string[]) => Promise<void>): Promise<void> =>
  withSession(stores.url, async (session) => {
    const query = queryOn(session);
    const faults: string[] = [];
    const report = (where: string, problem: string) => faults.push(`cold-days: ${where}: ${problem}`);
    const keys = await loadServiceKeys(query);
    await work({ query, report, keys, advance: () => {} } as unknown as CheckContext, faults);
  });

it('sums of the logs and of the pins of Receipts cancel out, except for the Grant in which they differ', () =>
  withContext(async (context, faults) => {
    const sums = new PinSums();
    await consumptionCheck(sums).run(context);
    expect(GRANTS.map((grantId) => sums.mayDiffer(day, grantId))).toEqual([true, true, true]);
    for await (const rows of (await readerOfDay()).receipts())
      for (const { jws } of rows) {
        const receipt = readSigned(context, jws);
        const pin = typeof receipt === 'string' ? null : pinOfReceipt(receipt);
        sums.subtract(day, pin ?? expect.unreachable(`${receipt} pins nothing`));
      }
    expect(GRANTS.map((grantId) => sums.mayDiffer(day, grantId))).toEqual([false, false, true]);
    expect(faults).toEqual([]);
  }));

it('namePins finds the difference, however few Receipts it reads at once', async () => {
  const reader = await readerOfDay();
  for (const atOnce of [1, 3, USES, 100])
    await withContext(async (context, faults) => {
      const sums = new PinSums();
      sums.add(day, pinOf({ grantId: faulty }));
      await namePins(context, reader, sums, day, atOnce);
      expect(faults).toEqual(found);
      expect(sums.differ(day)).toBe(false);
    });
});

const pinOf = (change: Partial<Pin>): Pin => ({
  ...{ receiptId: 'drc_1', grantId: another, key: OTHER_HASH, version: 3, snapshotHash: OTHER_HASH },
  ...{ limits: { total: 7, perPeriod: null, uses: null }, atMs: 1_000, ...change },
});

it('PinSums cancels equal pins of a day in any order, and no pins that differ in a member', () => {
  const sums = new PinSums();
  const pins = Array.from({ length: 300 }, (_, i) =>
    pinOf({ receiptId: `drc_${i}`, version: i, grantId: GRANTS[i % 3] as never }),
  );
  for (const pin of pins) sums.add(day, pin);
  for (const pin of pins) sums.add('2020-01-01', pin);
  expect(GRANTS.map((grantId) => sums.mayDiffer(day, grantId))).toEqual([true, true, true]);
  for (const pin of pins.toReversed()) sums.subtract(day, pin);
  expect([sums.differ(day), sums.differ('2020-01-01'), sums.differ('2020-01-02')]).toEqual([
    false,
    true,
    false,
  ]);
  const changes: Partial<Pin>[] = [
    { receiptId: 'drc_2' },
    { key: `sha256:${'1'.repeat(64)}` as Sha256 },
    { version: 4 },
    { snapshotHash: `sha256:${'1'.repeat(64)}` as Sha256 },
    { limits: { total: 8, perPeriod: null, uses: null } },
    { limits: { total: null, perPeriod: 7, uses: null } },
    { limits: null },
    { atMs: 1_001 },
  ];
  for (const change of changes) {
    sums.add(day, pinOf({}));
    sums.subtract(day, pinOf(change));
    expect(sums.mayDiffer(day, another)).toBe(true);
    sums.subtract(day, pinOf({}));
    sums.add(day, pinOf(change));
    expect(sums.differ(day)).toBe(false);
  }
});
