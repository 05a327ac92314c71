/**
 * The role of the running service (docs/operations.md): it does the service's work, and the append-only rules hold against it,
 * since it can neither take their triggers away nor go around them.
 */
import { randomBytes } from 'node:crypto';
import { withDatabase } from '@svc/testkit';
import { runSql, withSession } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantService, migrate } from './migrate.ts';

const database = withDatabase();
const role = `svc_role_${randomBytes(4).toString('hex')}`;
const roleUrl = () => Object.assign(new URL(database.url), { username: role, password: 'p' }).href;

beforeAll(async () => {
  await runSql(database.url, `create role ${role} login password 'p'`);
  await grantService(database.url, role);
});
afterAll(async () => {
  await runSql(database.url, `drop owned by ${role}`);
  await runSql(database.url, `drop role ${role}`);
});

const asRole = (sql: string) => withSession(roleUrl(), (session) => session.query(sql));
const DENIED = { code: '42501' };

describe('the role of the service', () => {
  it('starts on a migrated database, and is told who migrates another', async () => {
    await migrate(roleUrl());
    await runSql(database.url, `delete from migrations where name = (select max(name) from migrations)`);
    await expect(migrate(roleUrl())).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('svc-admin migrate'),
    });
  });

  it('makes the partitions of days to come, within bounds', async () => {
    await asRole(`select svc_ensure_receipt_partitions(date '2031-01-01', date '2031-01-02')`);
    const forever = `select svc_ensure_receipt_partitions(date '2031-01-01', date '2041-01-01')`;
    await expect(asRole(forever)).rejects.toThrow('more than 400 days');
  });

  it.each([
    'alter table receipts disable trigger all',
    'alter table receipts_20310101 disable trigger all',
    'drop trigger refuse_change on audit_events',
    'drop trigger refuse_all_but_clearing on receipts',
    'create or replace function svc_refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
    'alter table checkpoints add column note text',
    'drop table evidence',
    'drop table receipts_20310101',
    'truncate receipts',
    'truncate receipts_20310101',
    'truncate spent_proofs',
    'delete from receipts_20310101',
    `update receipts_20310101 set jws = 'x'`,
    'create table mine (x integer)',
    `set session_replication_role = 'replica'`,
    `set role pg_database_owner`,
    `delete from migrations`,
    'alter table receipts owner to current_user',
    'create or replace function svc_ensure_receipt_partitions(p_first date, p_last date) returns integer language sql as $$ select 1 $$',
  ])('is refused: %s', async (sql) => {
    await expect(asRole(sql)).rejects.toMatchObject(DENIED);
  });

  it('is refused every change of every table that takes none', async () => {
    const tables = await runSql<{ name: string; events: string[] }>(
      database.url,
      `select event_object_table as name, array_agg(distinct event_manipulation::text) as events
       from information_schema.triggers where trigger_name = 'refuse_change' group by 1`,
    );
    expect(tables.length).toBeGreaterThan(8);
    for (const { name, events } of tables)
      for (const event of events) {
        const [column] = await runSql<{ name: string }>(
          database.url,
          `select attname as name from pg_attribute where attrelid = '${name}'::regclass and attnum = 1`,
        );
        const sql =
          event === 'DELETE' ? `delete from ${name}` : `update ${name} set ${column?.name} = ${column?.name}`;
        await expect(asRole(sql), sql).rejects.toMatchObject(DENIED);
      }
  });
});
