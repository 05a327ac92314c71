/**
 * Compares the schema with the result of the migrations: a difference that can change a decision is a fault, others are
 * not.
 */
import { fileURLToPath } from 'node:url';
import { withDatabase } from '@svc/testkit';
import { runSql, withSession } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_SEARCH_PATH, listCatalog } from './catalog.ts';
import { readSchema, schemaFault } from './check-schema.ts';
import { compareSchema, digestsOf } from './compare-schema.ts';

const database = withDatabase();

/** The hint that a failure shows to the author of a migration. */
const RENEW =
  'after a new migration, run `npx vitest run --project store-pg migrate.test schema.test -u` twice: it renews schema.sql and expected-schema.generated.ts, and the first run still compares with the former file';

/** The comparison after `change`, which is rolled back. */
const after = (change: string) =>
  withSession(database.url, async (session) => {
    await session.query('begin');
    await session.query(change);
    await session.query(CATALOG_SEARCH_PATH);
    const { faults, added } = await compareSchema(async (text) => (await session.query(text)).rows);
    await session.query('rollback');
    return { faults: faults.map(({ object, problem }) => `${object} ${problem}`), added };
  });

it('the expected schema is that of a migrated database', async () => {
  const objects = await withSession(database.url, async (session) => {
    await session.query('begin');
    await session.query(CATALOG_SEARCH_PATH);
    return listCatalog(async (text) => (await session.query(text)).rows);
  });
  const lines = Object.entries(digestsOf(objects)).map(([object, digest]) => `  '${object}': '${digest}',`);
  const text = [
    '// Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.',
    '',
    '/** Every object of the schema, and 64 bits of the SHA-256 of its definition. */',
    'export const expectedSchema: Readonly<Record<string, string>> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
  expect(lines.length).toBeGreaterThan(500);
  await expect(text, RENEW).toMatchFileSnapshot(
    fileURLToPath(new URL('./expected-schema.generated.ts', import.meta.url)),
  );
});

it('a migrated database has no schema fault', async () => {
  const found = await readSchema(database.url);
  expect(found, RENEW).toMatchObject({ state: 'migrated', faults: [], added: [] });
  expect(schemaFault(found)).toBeNull();
});

const partition = `do $$ begin execute 'alter table ' ||
  (select inhrelid::regclass from pg_inherits where inhparent = 'receipts'::regclass limit 1) || ' disable trigger all'; end $$`;

describe("compareSchema reports a fault with the object's name:", () => {
  it.each([
    ['a missing table', 'drop table fence_quarantine cascade', 'table fence_quarantine is missing'],
    [
      'a missing column',
      'alter table agents drop column created_at cascade',
      'column agents.created_at is missing',
    ],
    [
      'a changed type',
      'alter table restores alter least_list_number type bigint',
      'column restores.least_list_number is not as migrated',
    ],
    [
      'a missing default',
      'alter table receipts alter production_check drop default',
      'column receipts.production_check is not as migrated',
    ],
    [
      'a dropped not-null constraint',
      'alter table grants alter principal drop not null',
      'column grants.principal is not as migrated',
    ],
    [
      'a missing constraint',
      'alter table receipts drop constraint decision_with_reason',
      'constraint receipts.decision_with_reason is missing',
    ],
    ['a missing index', 'drop index receipts_by_reason', 'index receipts.receipts_by_reason is missing'],
    ['a missing function', 'drop function svc_is_within cascade', 'function svc_is_within'],
    [
      'a changed function body',
      'create or replace function svc_refuse_change() returns trigger language plpgsql set search_path = public, pg_temp as $$ begin return new; end $$',
      'function svc_refuse_change() is not as migrated',
    ],
    [
      'a missing function setting',
      'alter function svc_refuse_change() reset search_path',
      'function svc_refuse_change() is not as migrated',
    ],
    [
      'a function that runs as its owner',
      'alter function svc_refuse_change() security definer',
      'function svc_refuse_change() is not as migrated',
    ],
    [
      'a second function with the same name',
      'create function svc_ms(text) returns bigint language sql as $$ select 0::bigint $$',
      'function svc_ms(text) does not belong there',
    ],
    [
      'a missing trigger',
      'drop trigger refuse_change on receipts',
      'trigger receipts.refuse_change is missing',
    ],
    [
      'a disabled trigger',
      'alter table receipts disable trigger refuse_change',
      'trigger receipts.refuse_change is not as migrated',
    ],
    ['disabled triggers of a partition', partition, 'disabled trigger receipts_'],
    [
      'an added trigger',
      'create trigger more before insert on grants for each row execute function svc_refuse_change()',
      'trigger grants.more does not belong there',
    ],
    [
      'an added constraint',
      'alter table grants add constraint more check (principal is null) not valid',
      'constraint grants.more does not belong there',
    ],
    [
      'an added unique index',
      'create unique index more on spent_proofs (grant_id)',
      'unique index spent_proofs.more does not belong there',
    ],
    [
      'an added column that is required in every row',
      'alter table spent_proofs add column more text not null',
      'column spent_proofs.more does not belong there',
    ],
    [
      'an added rule',
      'create rule more as on delete to spent_proofs do instead nothing',
      'rule spent_proofs.more does not belong there',
    ],
    ['row security', 'alter table grants enable row level security', 'table grants is not as migrated'],
    ['a policy', 'create policy more on grants using (false)', 'policy grants.more does not belong there'],
    [
      'an inheriting table',
      'create table more () inherits (grants)',
      'child table grants.more does not belong there',
    ],
    [
      'a public privilege on a column',
      'grant update (revoked_at) on grants to public',
      'column grants.revoked_at is not as migrated',
    ],
    [
      'a public privilege on a table',
      'grant insert on service_keys to public',
      'table service_keys is not as migrated',
    ],
  ])('%s', async (_, change, fault) => {
    const { faults } = await after(change);
    expect(faults.filter((one) => one.startsWith(fault))).not.toEqual([]);
  });
});

describe('compareSchema reports no fault for', () => {
  /** What a new migration has added. Only the tests above report that the expected schema is out of date. */
  let unexpected: ReadonlySet<string>;
  beforeAll(async () => {
    unexpected = new Set((await after('select')).added);
  });

  it.each([
    [
      'an added index that is not unique',
      'create index more on receipts (principal)',
      ['index receipts.more'],
    ],
    [
      'an added table',
      'create table more (x text not null unique)',
      ['column more.x', 'constraint more.more_x_key', 'table more'],
    ],
    ['an added view', 'create view more as select 1 as x', ['view more']],
    ['an added column that may be null', 'alter table agents add column more text', ['column agents.more']],
    [
      'an added function',
      'create function more() returns int language sql as $$ select 1 $$',
      ['function more()'],
    ],
    ['a statistics target', 'alter table receipts alter principal set statistics 1000', []],
    [
      'storage settings of a table',
      'alter table spent_proofs set (fillfactor = 70, autovacuum_vacuum_cost_delay = 1)',
      [],
    ],
    ['storage settings of an index', 'alter index audit_events_by_time set (fillfactor = 70)', []],
    ['extended statistics', 'create statistics more on principal, agent from receipts', []],
    ['a comment', `comment on table receipts is 'more'`, []],
    ['a privilege of a role', 'grant select on receipts to current_user', []],
    ['an added schema', 'create schema if not exists elsewhere', []],
  ])('%s', async (_, change, added) => {
    const { faults, added: found } = await after(change);
    expect({ faults, added: found.filter((object) => !unexpected.has(object)) }).toEqual({
      faults: [],
      added,
    });
  });
});

it('readSchema tells apart schemas that are ahead (not compared), behind, and never migrated', async () => {
  const change = (sql: string) => runSql(database.url, sql);
  await change(`insert into migrations (name, sha256, runs_from) values ('9999-later', 'x', '0000')`);
  await change('alter table agents add column later text not null default $$x$$');
  expect(await readSchema(database.url)).toMatchObject({ state: 'ahead', newest: '9999-later', faults: [] });
  await change('alter table agents drop column later');
  await change(`delete from migrations where name >= '0007'`);
  expect(await readSchema(database.url)).toMatchObject({ state: 'behind', newest: '0006-clock-repair' });
  await change('alter table migrations rename to elsewhere');
  expect(await readSchema(database.url)).toMatchObject({ state: 'never', newest: null });
});
