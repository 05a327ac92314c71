/** What the database still holds of days that are read from their objects, against these. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packDays } from '@svc/cold-ledger';
import { openObjects } from '@svc/object-store';
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import { tamper } from '@svc/testkit';
import { createColdWorld, DUE, identity, packingOf } from '@svc/testkit/store/cold-world';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../src/index.ts';

const stores = withStores();
const root = mkdtempSync(join(tmpdir(), 'svc-fsck-cold-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const [day = ''] = DUE;
let objects: ObjectStore;
/** Its Receipts are signed by nobody, which is found of each. */
let before: readonly string[];

const faultsOfDay = async (): Promise<string[]> => {
  const faults: string[] = [];
  await checkDatabase({
    databaseUrl: stores.url,
    objects,
    onFault: ({ check, where, problem }) => {
      if (check === 'cold-days' && where === day) faults.push(problem);
    },
  });
  return faults;
};

beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  const { objects: opened } = await openObjects(pathToFileURL(root).href, null);
  objects = opened;
  for (const { kid, publicKeyMultibase } of [
    ...identity.receiptKeys.published,
    ...identity.statusKeys.published,
  ])
    await tamper(stores.url, 'insert into service_keys (kid, public_key) values ($1, $2)', [
      kid,
      publicKeyMultibase,
    ]);
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
  before = await faultsOfDay();
});

const OF_DAY = `receipt_id >= svc_lowest_receipt_id('${day}') and receipt_id < svc_lowest_receipt_id('${day}'::date + 1)`;
const SUMS = ['usage_counts', 'usage_by_key', 'usage_by_principal', 'usage_by_day'];
const MONTHS = {
  usage_monthly: 'relying_party, principal, reason',
  usage_monthly_by_principal: 'principal, reason',
};

it('all of it agrees', () => {
  expect(before.filter((problem) => /attestation|event|the Grant|stored are/.test(problem))).toEqual([]);
});

it('where the store does not hand over a manifest nothing is said of it: that cannot be told', async () => {
  const get = () => Promise.reject(new ObjectStoreError('unavailable', 'no answer'));
  const away: ObjectStore = Object.assign(Object.create(objects), { get });
  const checking = checkDatabase({ databaseUrl: stores.url, objects: away, onFault: () => {} });
  await expect(checking).rejects.toMatchObject({ kind: 'unavailable' });
});

const held: [what: string, tables: string[], change: string, problem: string][] = [
  [
    'an attestation that is gone',
    ['attestations'],
    `delete from attestations where ${OF_DAY} and ordinal = 2`,
    'is not in the database',
  ],
  [
    'an attestation that says something else',
    ['attestations'],
    `update attestations set loss_amount = 999 where ${OF_DAY} and ordinal = 2`,
    'was packed otherwise',
  ],
  [
    'a consumption event that is gone',
    ['consumption_events'],
    `delete from consumption_events where ${OF_DAY}`,
    'the consumption event ',
  ],
  [
    'a consumption event that drew less',
    ['consumption_events'],
    `update consumption_events set delta_total = delta_total - 1 where ${OF_DAY}`,
    'was packed otherwise',
  ],
  [
    'who verified a Grant',
    ['cold_verifications'],
    'delete from cold_verifications',
    'was verified, and by whom is not kept',
  ],
  [
    'a day of a Grant',
    ['usage_by_grant'],
    `update usage_by_grant set days = days - datemultirange(daterange('${day}', '${day}', '[]'))`,
    'is named by its decisions',
  ],
  [
    'fewer production checks',
    ['usage_by_key'],
    `update usage_by_key set production_checks = greatest(production_checks - 1, 0) where day = '${day}'`,
    'production checks',
  ],
  [
    'sums that agree with each other alone',
    [...SUMS, ...Object.keys(MONTHS)],
    [
      ...SUMS.map((table) => `update ${table} set verifies = verifies * 2 where day = '${day}'`),
      ...Object.entries(MONTHS).map(
        ([table, by]) => `delete from ${table}; insert into ${table} (month, ${by}, verifies)
          select date_trunc('month', day)::date, ${by}, sum(verifies) from usage_counts group by 1, ${by}`,
      ),
    ].join(';'),
    'decisions, its objects have ',
  ],
];

it.each(held)('finds %s', async (_, tables, change, problem) => {
  for (const table of tables)
    await tamper(stores.url, `create table kept_${table} as select * from ${table}`);
  await tamper(stores.url, change);
  const found = (await faultsOfDay()).filter((one) => !before.includes(one));
  for (const table of tables)
    await tamper(
      stores.url,
      `delete from ${table}; insert into ${table} select * from kept_${table}; drop table kept_${table}`,
    );
  expect(found.length).toBeGreaterThan(0);
  for (const one of found) expect(one).toContain(problem);
  expect(await faultsOfDay()).toEqual(before);
  expect(
    await runSql(stores.url, `select count(*)::integer as n from cold_days where state = 'cold'`),
  ).toEqual([{ n: DUE.length }]);
});
