/** What the database still holds of days that are read from their objects, compared with these objects. */
import { ColdDayReader, packDays, parseColdDay } from '@svc/cold-ledger';
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import { tamper } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import {
  createColdWorld,
  DAYS,
  DUE,
  PRINCIPALS,
  packingOf,
  RPS,
  recordKeys,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';
import type { CheckContext } from '../src/check.ts';
import { coldDayCheck } from '../src/checks/cold-days.ts';
import { ColdFacts } from '../src/checks/cold-facts.ts';
import { ColdKeptDays } from '../src/checks/cold-kept.ts';
import { PinSums } from '../src/checks/pin-sums.ts';
import { checkDatabase, type Fault } from '../src/index.ts';
import { queryOn } from '../src/query.ts';
import { loadServiceKeys } from '../src/service-keys.ts';
import { findFaults } from './find-faults.ts';

const stores = withStores();
const openFolder = withObjectFolders();
const [day = '', empty = ''] = DUE;
let objects: ObjectStore;
/**
 * Faults before a test. The service has not signed the Receipts of this world, and its Grants and relying parties are
 * unknown, so each Receipt has such faults.
 */
let before: readonly string[];

const listFaults = async (): Promise<string[]> => {
  const { faults } = await findFaults(stores.url, objects);
  return faults.map(({ check, where, problem }) => `${check}: ${where}: ${problem}`).sort();
};
const findNew = async (): Promise<string[]> => (await listFaults()).filter((one) => !before.includes(one));

beforeAll(async () => {
  await createColdWorld(stores.url, stores.first);
  objects = await openFolder();
  await recordKeys(stores.url);
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
  before = await listFaults();
});

const OF_DAY = `receipt_id >= svc_lowest_receipt_id('${day}') and receipt_id < svc_lowest_receipt_id('${day}'::date + 1)`;
const SUMS = ['usage_counts', 'usage_by_key', 'usage_by_principal', 'usage_by_day'];
const MONTHS = {
  usage_monthly: 'relying_party, principal, reason',
  usage_monthly_by_principal: 'principal, reason',
};

const ofCold = (faults: readonly string[]) => faults.filter((one) => one.startsWith('cold-days: '));

it('fsck finds no fault in what the database keeps of cold days if it agrees with their objects', () => {
  expect(before.filter((one) => one.startsWith('outcomes: '))).toEqual([]);
  expect(
    ofCold(before).filter((one) => /attestation|oat_|event|the Grant|stored are|no Receipt drc_/.test(one)),
  ).toEqual([]);
});

it('fsck fails as unavailable, and reports no fault of a cold day, if the object store cannot return a manifest', async () => {
  const get = () => Promise.reject(new ObjectStoreError('unavailable', 'no answer'));
  const away: ObjectStore = Object.assign(Object.create(objects), { get });
  const reported: Fault[] = [];
  const onFault = (fault: Fault) => reported.push(fault);
  await expect(checkDatabase({ databaseUrl: stores.url, objects: away, onFault })).rejects.toMatchObject({
    kind: 'unavailable',
  });
  expect(reported.filter(({ check }) => check === 'cold-days')).toEqual([]);
});

const held: [what: string, tables: string[], change: string, problem: string][] = [
  [
    'an outcome record that is gone',
    ['attestations'],
    `delete from attestations where ${OF_DAY} and ordinal = 2`,
    'is not in the database',
  ],
  [
    'an outcome record that says something else',
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
    'a missing entry of who verified a Grant',
    ['cold_verifications'],
    'delete from cold_verifications',
    'was verified, and by whom is not kept',
  ],
  [
    'a missing day of a Grant',
    ['usage_by_grant'],
    `update usage_by_grant set days = days - datemultirange(daterange('${day}', '${day}', '[]'))`,
    'is named by its decisions',
  ],
  [
    'fewer production checks than the objects have',
    ['usage_by_key'],
    `update usage_by_key set production_checks = greatest(production_checks - 1, 0) where day = '${day}'`,
    'production checks',
  ],
  [
    'sums that agree with each other but not with the objects',
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

it.each(sampleOf(held, 2))('fsck finds %s', async (_, tables, change, problem) => {
  for (const table of tables)
    await tamper(stores.url, `create table kept_${table} as select * from ${table}`);
  await tamper(stores.url, change);
  const found = ofCold(await findNew());
  for (const table of tables)
    await tamper(
      stores.url,
      `delete from ${table}; insert into ${table} select * from kept_${table}; drop table kept_${table}`,
    );
  expect(found.length).toBeGreaterThan(0);
  for (const one of found) expect(one).toContain(problem);
  if (isDeep) expect(await findNew()).toEqual([]);
  expect(
    await runSql(stores.url, `select count(*)::integer as n from cold_days where state = 'cold'`),
  ).toEqual([{ n: DUE.length }]);
});

it('fsck finds each ALLOW whose Grant was never allocated, and each relying party that is not registered', async () => {
  const allows = await runSql<{ id: string }>(
    stores.url,
    `select receipt_id as id from ${LEDGER} where decision = 'ALLOW'`,
  );
  expect(allows.length).toBeGreaterThan(8);
  expect(before).toEqual(
    expect.arrayContaining(allows.map(({ id }) => `cold-days: ${id}: its Grant was never allocated`)),
  );
  const asked = await runSql<{ relyingParty: string; first: string; count: string }>(
    stores.url,
    `select relying_party as "relyingParty", min(receipt_id) as first, count(*) as count from ${LEDGER} group by 1`,
  );
  expect(before).toEqual(
    expect.arrayContaining(
      asked.map(
        ({ relyingParty, first, count }) =>
          `cold-days: ${first}: ${count} Receipts of ${relyingParty}, which is not registered`,
      ),
    ),
  );
});

const LEDGER = `detached_receipts_${day.replaceAll('-', '')}`;
const lowestId = (at: string) => `svc_lowest_receipt_id('${at}')`;
/** Times before, between and after the Receipts of a day, and one on a day without any. */
const PLACES = [`${day}T00:00:00Z`, `${day}T12:00:00Z`, `${day}T23:59:59.999Z`, `${empty}T12:00:00Z`];
const [hotDay = ''] = DAYS.slice(DUE.length);

const reportLosses = (rows: string) =>
  `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at,
     loss_amount, currency, issuer_unverified)
   select 'oat_forged' || row_number() over (order by id), id, 9, rp, principal, at, decision, 'loss_reported', '2026-01-01T00:00:00Z', 100, 'EUR',
     is_unverified
   from (${rows}) as forged (id, rp, principal, at, decision, is_unverified)`;
const lossesAt = (places: readonly (readonly [idAt: string, at: string])[]) =>
  reportLosses(
    places
      .map(
        ([idAt, at]) =>
          `select ${lowestId(idAt)}, '${RPS[0]}', '${PRINCIPALS[0]}', timestamptz '${at}', 'ALLOW', false`,
      )
      .join(' union all '),
  );
const UNVERIFIED = `reason is not distinct from 'ISSUER_UNVERIFIED'`;
const COPIED = ['receipt_id', 'relying_party', 'principal', 'evaluated_at', 'decision', UNVERIFIED];
/** Attestations of Receipts of the day, each with another value in one of these columns. */
const lossesBut = (changes: Readonly<Record<string, string>>) =>
  reportLosses(
    Object.entries(changes)
      .map(([changed, value]) => COPIED.map((column) => (column === changed ? value : column)))
      .map(
        (values, i) =>
          `(select ${values.join()} from ${LEDGER} where decision = 'ALLOW' offset ${i} limit 1)`,
      )
      .join(' union all '),
  );

const FORGED_GRANT = 'urn:svc:grant:01K9FFFFFFFFFFFFFFFFFFFFFF';
/** Consumptions without a decision, in a budget that agrees with its log. */
const consumeAt = (places: readonly (readonly [idAt: string, at: string])[]) =>
  [
    ...places.map(
      ([idAt, at], i) =>
        `insert into consumption_events (grant_id, version, key, delta_total, delta_period, delta_uses, cause, cause_id, receipt_id, recorded_at)
         select '${FORGED_GRANT}', ${i + 1}, 'sha256:forged', 7, 0, 1, 'consume', id, id, '${at}' from ${lowestId(idAt)} as id`,
    ),
    `insert into consumption_balances (grant_id, key, spent_total, spent_in_period, uses_spent, limit_total, updated_at)
     values ('${FORGED_GRANT}', 'sha256:forged', ${7 * places.length}, 0, ${places.length}, 1000, '${places.at(-1)?.[1]}')`,
  ].join(';');
const both = (at: string) => [at, at] as const;

/** Rows kept of Grants without a Receipt: on a day without any, for another Principal, by another relying party. */
const keepMore = `
  insert into usage_by_grant (grant_id, principal, days)
  select '${FORGED_GRANT}', principal, datemultirange(daterange('${day}', '${empty}', '[]'))
  from unnest(array[null, '${PRINCIPALS[0]}']) as principal;
  insert into cold_verifications (grant_id, principal, relying_party, latest_receipt_id)
  select '${FORGED_GRANT}', '${PRINCIPALS[0]}', rp, id from (values
    ('${RPS[0]}', (select max(receipt_id) from ${LEDGER})), ('${RPS[1]}', ${lowestId(`${empty}T12:00:00Z`)}),
    ('${RPS[2]}', (select max(receipt_id) from receipts))) as forged (rp, id)`;
const NAMED = `the Grant ${FORGED_GRANT} is kept as named by its decisions`;
const VERIFIED = `the Grant ${FORGED_GRANT} is kept as verified by`;

const noReceipt = (check: string, where: string) =>
  expect.stringMatching(`^${check}: ${where}.*: there is no Receipt drc_`);
const forged: [what: string, change: string, found: unknown[]][] = [
  [
    'outcome records with another relying party, Principal, time, decision or ISSUER_UNVERIFIED flag than their cold Receipts',
    lossesBut({
      relying_party: `'did:web:other.example'`,
      principal: `'did:web:other.example'`,
      evaluated_at: `evaluated_at + interval '1 microsecond'`,
      decision: `'DENY'`,
      [UNVERIFIED]: 'true',
    }),
    [1, 2, 3, 4, 5].map((n) => `cold-days: oat_forged${n}: it is not what its Receipt says`),
  ],
  [
    'outcome records of Receipts that a cold day does not have',
    lossesAt(PLACES.map(both)),
    PLACES.map((_, i) => noReceipt('cold-days', `oat_forged${i + 1}`)),
  ],
  [
    'an outcome record dated into a cold day, of a Receipt that a hot day does not have',
    lossesAt([[`${hotDay}T12:00:00Z`, `${day}T12:00:00Z`]]),
    [noReceipt('outcomes', 'oat_forged1')],
  ],
  [
    'consume events of Receipts that a cold day does not have',
    consumeAt(PLACES.map(both)),
    PLACES.map((_, i) => noReceipt('cold-days', `${FORGED_GRANT}: version ${i + 1}`)),
  ],
  [
    'a consume event dated into a cold day, of a Receipt that a hot day does not have',
    consumeAt([[`${hotDay}T12:00:00Z`, `${day}T12:00:00Z`]]),
    [noReceipt('consumption', `${FORGED_GRANT}: version 1`)],
  ],
  [
    'days of a Grant, and entries of who verified it, that no Receipt supports',
    keepMore,
    [
      ...[day, day].map((at) => expect.stringContaining(`cold-days: ${at}: ${NAMED}`)),
      expect.stringContaining(`cold-days: ${day}: ${VERIFIED} ${RPS[0]} `),
      ...[empty, empty].map((at) => expect.stringContaining(`cold-days: ${at}: ${NAMED}`)),
      expect.stringContaining(`cold-days: ${empty}: ${VERIFIED} ${RPS[1]} `),
      expect.stringContaining(`cold-days: ${FORGED_GRANT}: is kept as verified by ${RPS[2]} `),
    ],
  ],
];
const FORGET = `
  delete from attestations where attestation_id like 'oat_forged%';
  ${['consumption_events', 'consumption_balances', 'usage_by_grant', 'cold_verifications']
    .map((table) => `delete from ${table} where grant_id = '${FORGED_GRANT}'`)
    .join(';')}`;

it.each(sampleOf(forged, 2))('fsck finds %s', async (_, change, found) => {
  await tamper(stores.url, change);
  const faults = await findNew();
  await tamper(stores.url, FORGET);
  expect(faults).toEqual(found);
});

it('fsck finds these faults with any batch size, each once', async () => {
  await tamper(stores.url, `${lossesAt(PLACES.map(both))}; ${keepMore}`);
  const manifests = (
    await runSql<{ manifest: string }>(
      stores.url,
      'select manifest from cold_days where day = any ($1) order by day',
      [DUE],
    )
  ).map(({ manifest }) => parseColdDay(manifest));
  expect(manifests.map((manifest) => manifest.tree_size)).toEqual([30, 0, 41]);
  const foundBy = (size: number) =>
    withSession(stores.url, async (session) => {
      const found: string[] = [];
      const context = {
        query: queryOn(session),
        report: (where: string, problem: string) =>
          found.push(problem.includes(' is kept as ') ? `${where}: ${problem}` : where),
      } as unknown as CheckContext;
      const keptDays = new ColdKeptDays(context, DUE, size);
      for (const manifest of manifests) {
        const reader = new ColdDayReader(objects, manifest);
        const facts = new ColdFacts(context, manifest.day, size);
        const kept = await keptDays.of(manifest.day);
        for await (const rows of reader.receipts()) {
          await facts.add(rows);
          kept.add(rows);
        }
        await facts.end();
        await kept.end(reader);
      }
      return found.sort();
    });
  const sizes = sampleOf([1, 7, 10, 30, 1_000], 3);
  const found = await Promise.all(sizes.map(foundBy));
  await tamper(stores.url, FORGET);
  expect(found[0]?.filter((one) => one.includes(' is kept as '))).toEqual(
    [day, empty].flatMap((at) =>
      [NAMED, NAMED, VERIFIED].map((problem) => expect.stringContaining(`${at}: ${problem}`)),
    ),
  );
  expect(found[0]?.filter((where) => where.startsWith('oat_'))).toEqual(
    PLACES.map((_, i) => `oat_forged${i + 1}`),
  );
  for (const others of found) expect(others).toEqual(found[0]);
});

it('fsck reads what is kept of Grants in one query for several cold days', async () => {
  const asked = await withSession(stores.url, async (session) => {
    const query = queryOn(session);
    const texts: string[] = [];
    const context: CheckContext = {
      query: (text, values) => {
        texts.push(text);
        return query(text, values);
      },
      keys: await loadServiceKeys(query),
      hasObjects: true,
      advance: () => {},
      report: () => {},
      note: () => {},
    };
    await coldDayCheck(objects, new PinSums()).run(context);
    return texts.filter((text) => /^\s*from usage_by_grant\b/m.test(text));
  });
  expect(asked).toHaveLength(1);
});

it('fsck accepts an outcome record reported after its day was packed, even if its ISSUER_UNVERIFIED flag is missing', async () => {
  const unseen = COPIED.map((column) => (column === UNVERIFIED ? 'false' : column));
  await tamper(
    stores.url,
    reportLosses(
      `(select ${COPIED.join()} from ${LEDGER} where decision = 'ALLOW' limit 1) union all
       (select ${unseen.join()} from ${LEDGER} where reason = 'ISSUER_UNVERIFIED' limit 1)`,
    ),
  );
  const reported = await runSql(
    stores.url,
    `select from attestations where attestation_id like 'oat_forged%'`,
  );
  const faults = await findNew();
  await tamper(stores.url, FORGET);
  expect(reported).toHaveLength(2);
  expect(faults).toEqual([]);
});
