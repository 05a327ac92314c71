/**
 * The role of the running service (docs/operations.md). It can do the service's work, and the append-only rules bind
 * it, since it can neither remove their triggers nor bypass them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { tamper, withDatabase } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { openStore } from '@svc/testkit/store/open-store';
import { changePause } from '@svc/testkit/store/pause-races';
import { runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, insertOrg } from '@svc/testkit/store/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseOn } from '../test/database-on.ts';
import { grantRunner, grantService, migrate } from './migrate.ts';
import { listMigrations } from './migrations.ts';
import { coldDayRepository } from './repositories/cold-days.ts';

const database = withDatabase();
const role = `svc_role_${randomBytes(4).toString('hex')}`;
const roleUrl = () => Object.assign(new URL(database.url), { username: role, password: 'p' }).href;

beforeAll(async () => {
  await runSql(database.url, `create role ${role} login password 'p'`);
  // Rights that were granted to the role before are revoked.
  await runSql(database.url, `grant truncate, trigger, delete on audit_events, receipts to ${role}`);
  await grantService(database.url, role);
});
afterAll(async () => {
  await runSql(database.url, `drop owned by ${role}`);
  await runSql(database.url, `drop role ${role}`);
});

const asRole = (sql: string) => withSession(roleUrl(), (session) => session.query(sql));
const DENIED = { code: '42501' };

/** Tables of days that the role may read, and those that it may change directly. */
const rightsOnDays = (url: string) =>
  runSql<{ name: string; reads: boolean; writes: boolean }>(
    url,
    `select relname as name, has_table_privilege('${role}', oid, 'select') as reads,
       has_table_privilege('${role}', oid, 'insert, update, delete, truncate') as writes
     from pg_class where relkind = 'r' and relname ~ '^(detached_)?receipts_\\d{8}$' order by 1`,
  );

it('a migration leaves the service and runner roles with the rights that a new grant would give them', async () => {
  const name = `granted_${process.pid}`;
  const runner = `${role}_runner`;
  const reader = `${role}_reader`;
  await runSql(database.url, `create database ${name} template template0`);
  await runSql(database.url, `create role ${runner}`);
  await runSql(database.url, `create role ${reader}`);
  const former = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
  /** Rights of both roles, on tables and columns. */
  const rights = () =>
    runSql<{ relname: string; attname: string | null; role: string; rights: string[] }>(
      former,
      `select had.relname, had.attname, pg_get_userbyid(acl.grantee) as role, array_agg(acl.privilege_type::text order by acl.privilege_type) as rights
       from (
           select relname, null as attname, relacl as acl from pg_class
           union all
           select c.relname, a.attname, a.attacl from pg_attribute as a join pg_class as c on c.oid = a.attrelid
         ) as had,
         aclexplode(had.acl) as acl
       where pg_get_userbyid(acl.grantee) in ('${role}', '${runner}', '${reader}') group by 1, 2, 3 order by 1, 2, 3`,
    );
  const migrations = listMigrations();
  try {
    await migrate(former, { migrations: migrations.filter((one) => one.name < '0010') });
    await grantService(former, role);
    await grantRunner(former, runner);
    // Another role's right on a column changes none of this, and stays.
    await runSql(former, `grant select (jws) on receipts to ${reader}`);
    const atFirst = await rights();
    for (const until of sampled({ quick: ['9999'], deep: ['0011', '0019', '9999'] })) {
      await migrate(former, { migrations: migrations.filter((one) => one.name < until) });
      const kept = await rights();
      await grantService(former, role);
      await grantRunner(former, runner);
      expect(kept).toEqual(await rights());
      expect(kept).not.toEqual(atFirst);
      expect(kept.filter((one) => one.role === reader)).toEqual([
        { relname: 'receipts', attname: 'jws', role: reader, rights: ['SELECT'] },
      ]);
    }
  } finally {
    await runSql(database.url, `drop database ${name} with (force)`);
    await runSql(database.url, `drop role ${runner}`);
    await runSql(database.url, `drop role ${reader}`);
  }
});

describe('the table of a day', () => {
  const readAlone = (names: readonly { readonly name: string }[]) =>
    names.map(({ name }) => ({ name, reads: true, writes: false }));

  it('is readable by the role, whether it existed before the grant or was created since', async () => {
    const before = await rightsOnDays(database.url);
    await asRole(`select svc_ensure_receipt_partitions('2033-05-01', '2033-05-02')`);
    const days = await rightsOnDays(database.url);
    expect(days.length).toBe(before.length + 2);
    expect(days).toEqual(readAlone(days));
  });

  it.runIf(isDeep)(
    'is readable after the upgrade by a role granted under an old version, also when the day was detached',
    async () => {
      const name = `unread_${process.pid}`;
      await runSql(database.url, `create database ${name} template template0`);
      const former = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
      try {
        await migrate(former, { migrations: listMigrations().filter((one) => one.name < '0043') });
        await grantService(former, role);
        await runSql(former, `select svc_ensure_receipt_partitions('2033-05-01', '2033-05-02')`);
        await runSql(former, 'alter table receipts detach partition receipts_20330501');
        await runSql(former, 'alter table receipts_20330501 rename to detached_receipts_20330501');
        const days = await rightsOnDays(former);
        expect(days.some(({ reads }) => reads)).toBe(false);
        await migrate(former);
        expect(await rightsOnDays(former)).toEqual(readAlone(days));
      } finally {
        await runSql(database.url, `drop database ${name} with (force)`);
      }
    },
  );
});

/** Runs a statement as the owner and rolls it back. */
const asOwner = (sql: string) =>
  withSession(database.url, async (session) => {
    await session.query('begin');
    await session.query(sql);
    await session.query('rollback');
  });

/** Changes to what the rules depend on, with which a refused change could be prepared. */
const AGAINST_RULES = [
  'alter table receipts disable trigger all',
  'alter table receipts_20310101 disable trigger all',
  'drop trigger refuse_change on audit_events',
  'drop trigger refuse_all_but_clearing on receipts',
  'create trigger first before insert on audit_events for each row execute function svc_refuse_change()',
  'create or replace function svc_refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
  'alter table checkpoints add column note text',
  'drop table evidence cascade',
  'drop table receipts_20310101',
  'create table mine (x integer)',
  `set session_replication_role = 'replica'`,
  `delete from migrations`,
  `update migrations set sha256 = 'x'`,
  `insert into migrations (name, sha256, runs_from) values ('9999-x', 'x', 'x')`,
  'alter table receipts owner to current_user',
];

describe('the role of the service', () => {
  it('starts on a migrated database, and is told to run svc-admin migrate on another', async () => {
    await migrate(roleUrl());
    await runSql(database.url, `delete from migrations where name = (select max(name) from migrations)`);
    await expect(migrate(roleUrl())).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('svc-admin migrate'),
    });
  });

  it('creates partitions of days to come, of at most 400 days at once', async () => {
    await asRole(`select svc_ensure_receipt_partitions(date '2031-01-01', date '2031-01-02')`);
    const forever = `select svc_ensure_receipt_partitions(date '2031-01-01', date '2041-01-01')`;
    await expect(asRole(forever)).rejects.toThrow('more than 400 days');
  });

  it('registers relying parties and Principals, and pauses a relying party', async () => {
    const store = openStore(roleUrl());
    try {
      const { relyingParty } = await createWorld(store, await insertOrg(store));
      const target = { scope: 'relying_party', owner: relyingParty.did, subject: relyingParty.did } as const;
      expect((await changePause(store, target, true)).record).toMatchObject({ isPaused: true });
    } finally {
      await store.close();
    }
  });

  it.each(AGAINST_RULES)('may not run what the owner may: %s', async (sql) => {
    await expect(asRole(sql)).rejects.toMatchObject(DENIED);
    await asOwner(sql);
  });

  it.each([
    'truncate receipts',
    'truncate receipts_20310101',
    'truncate audit_events',
    'truncate spent_proofs',
    'delete from receipts',
    'delete from receipts_20310101',
    `update receipts_20310101 set jws = 'x'`,
    `set role pg_database_owner`,
    'create or replace function svc_ensure_receipt_partitions(p_first date, p_last date) returns integer language sql as $$ select 1 $$',
  ])('may not run: %s', async (sql) => {
    await expect(asRole(sql)).rejects.toMatchObject(DENIED);
  });

  it('may not update or delete rows of any append-only table', async () => {
    const tables = await runSql<{ name: string; events: string[] }>(
      database.url,
      `select event_object_table as name, array_agg(distinct event_manipulation::text) as events
       from information_schema.triggers where trigger_name = 'refuse_change' group by 1`,
    );
    expect(tables.length).toBeGreaterThan(8);
    const columns = await runSql<{ table: string; name: string }>(
      database.url,
      `select attrelid::regclass::text as table, attname as name from pg_attribute where attnum = 1`,
    );
    const first = new Map(columns.map(({ table, name }) => [table, name]));
    await withSession(roleUrl(), async (session) => {
      for (const { name, events } of tables)
        for (const event of events) {
          const column = first.get(name);
          const sql = event === 'DELETE' ? `delete from ${name}` : `update ${name} set ${column} = ${column}`;
          await expect(session.query(sql), sql).rejects.toMatchObject(DENIED);
        }
    });
  });
});

/** The manifest of a day without Receipts whose checkpoint has these roots: a compact JWS with no valid signature. */
const manifestOf = (day: string, change: object = {}) => {
  const tables = { receipts: [], attestations: [], consumption_events: [] };
  const payload = {
    ...{ day, checkpoint_hash: 'h', root: 'r', content_root: 'c', tree_size: 0, tables },
    ...change,
  };
  return ['{}', JSON.stringify(payload), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
};
/** The manifest and its hash, as two SQL values. */
const valuesOf = (manifest: string) =>
  `'${manifest}', 'sha256:${createHash('sha256').update(manifest).digest('hex')}'`;

describe('a closed day that is not proven', () => {
  const day = '2031-01-02';
  const state = () =>
    runSql(
      database.url,
      `select state, detached_at is not null and dropped_at is null as "isKept",
         to_regclass('detached_receipts_20310102') is not null as "isThere" from cold_days`,
    );

  /**
   * For a day without a table, a temporary table of the caller with that name must not be used: it would be written as
   * the owner, and its triggers would run as the owner.
   */
  const expectTemporaryUntouched = async (nodeMs: number): Promise<void> => {
    const other = '2031-01-03';
    const manifest = valuesOf(manifestOf(other));
    await tamper(
      database.url,
      `insert into checkpoints (day, tree_size, root, kid, jws, hash, content_root)
         values ('${other}', 0, 'r', 'k', 'j2', 'h', 'c');
       insert into cold_days (day, state, manifest, manifest_hash) values ('${other}', 'recorded', ${manifest})`,
    );
    const amounts = await withSession(roleUrl(), async (session) => {
      await session.query(
        `create temporary table receipts_20310103 as
           select svc_lowest_receipt_id('${other}T12:00:00Z') as receipt_id, 'a' as action_type, 1 as amount, 'c' as currency,
             'r' as resource, 'm' as method;
         grant all on receipts_20310103 to public`,
      );
      await session.query(`select svc_clear_table_of_day('${other}', 2, ${nodeMs})`);
      return (await session.query('select amount from pg_temp.receipts_20310103')).rows;
    });
    expect(amounts).toEqual([{ amount: 1 }]);
    await tamper(
      database.url,
      `delete from cold_days where day = '${other}'; delete from checkpoints where day = '${other}'`,
    );
  };

  /**
   * A day is cleared only when it is due by the database's clock, under a manifest of that day that replaces the
   * recorded one; the recorded one stays.
   */
  const expectClearedInTimeAlone = async (): Promise<void> => {
    const hash = `sha256:${createHash('sha256').update(manifestOf(day)).digest('hex')}`;
    const nodeMs = 4_102_444_800_000;
    const isDone = async (call: string) => (await asRole(`select ${call} as done`)).rows[0]?.done;
    const record = (change: object = {}) => {
      const values = valuesOf(manifestOf(day, { replaces: hash, ...change }));
      return isDone(`svc_record_cleared_day('${day}', ${values}, ${nodeMs})`);
    };
    expect(await record()).toBe(false);
    const [keptSince] = await runSql<{ text: string }>(
      database.url,
      `select pg_get_functiondef('svc_actions_kept_since'::regproc) as text`,
    );
    await runSql(
      database.url,
      `create or replace function svc_actions_kept_since() returns timestamptz language sql volatile as $$ select timestamptz '2040-01-01' $$`,
    );
    // Refused also while the day's table is not cleared.
    expect(await record()).toBe(false);
    expect(await isDone(`svc_clear_table_of_day('${day}', 2, ${nodeMs})`)).toBe(true);
    const other = { receipts: [], attestations: [{ name: `${day}/x`, rows: 1 }], consumption_events: [] };
    for (const change of [{ replaces: null }, { replaces: 'other' }, { tables: other }, { root: 'other' }])
      await expect(record(change), JSON.stringify(change)).rejects.toMatchObject(DENIED);
    for (const sql of [
      'update cold_days set cleared_at = now()',
      `update cold_days set cleared_before = ''`,
      `insert into cold_manifests (manifest_hash, day, manifest, recorded_at) values ('h', '${day}', 'm', now())`,
    ])
      await expect(asRole(sql), sql).rejects.toMatchObject(DENIED);
    expect(await record()).toBe(true);
    expect(await record()).toBe(false);
    for (const sql of [
      'update cold_manifests set purged_at = now()',
      'delete from cold_manifests',
      'truncate cold_manifests',
    ])
      await expect(asRole(sql), sql).rejects.toMatchObject(DENIED);
    expect(await isDone(`svc_note_purged('${hash}', 0, ${nodeMs})`)).toBe(false);
    expect(await runSql(database.url, 'select manifest, purged_at from cold_manifests')).toEqual([
      { manifest: manifestOf(day), purged_at: null },
    ]);
    await expectTemporaryUntouched(nodeMs);
    await runSql(database.url, keptSince?.text ?? '');
  };

  it('cannot be dropped or cleared early by the service role, whatever that records; the owner can drop it', async () => {
    await asRole(`select svc_ensure_receipt_partitions(date '${day}', date '${day}')`);
    await tamper(
      database.url,
      `insert into checkpoints (day, tree_size, root, kid, jws, hash, content_root)
         values ('${day}', 0, 'r', 'k', 'j', 'h', 'c');
       update ledger_count set counted_before = 'drc_~'; update evidence_naming set named_before = 'drc_~'`,
    );
    const manifest = valuesOf(manifestOf(day));
    for (const row of [
      `(day, state, manifest, manifest_hash, detached_at) values ('${day}', 'cold', ${manifest}, '2001-01-01')`,
      `(day, state, manifest, manifest_hash, kept_before) values ('${day}', 'recorded', ${manifest}, 'drc_~')`,
      `(day, state, manifest, manifest_hash) values ('${day}', 'unpacked', ${manifest})`,
    ])
      await expect(asRole(`insert into cold_days ${row}`), row).rejects.toMatchObject(DENIED);
    const record = (values: string) =>
      asRole(
        `insert into cold_days (day, state, manifest, manifest_hash) values ('${day}', 'recorded', ${values})`,
      );
    const object = (name: string, rows: number) => ({ receipts: [{ name, rows }] });
    for (const [problem, values] of [
      ['its hash is another', `'made up', 'made up'`],
      ['no compact JWS of JSON', valuesOf('made up')],
      ['no compact JWS of JSON', valuesOf('a.!!.c')],
      ['of another day', valuesOf(manifestOf('2031-01-03'))],
      ['of another checkpoint', valuesOf(manifestOf(day, { checkpoint_hash: 'other' }))],
      ['has other roots', valuesOf(manifestOf(day, { root: 'other' }))],
      ['has other roots', valuesOf(manifestOf(day, { content_root: null }))],
      ['has other roots', valuesOf(manifestOf(day, { tree_size: 1 }))],
      ['more or fewer Receipts', valuesOf(manifestOf(day, { tables: object(`${day}/x`, 1) }))],
      ['objects of another day', valuesOf(manifestOf(day, { tables: object('2031-01-03/x', 0) }))],
      ['objects of another day', valuesOf(manifestOf(day, { tables: { receipts: [{ rows: 0 }] } }))],
    ])
      await expect(record(values ?? ''), problem).rejects.toMatchObject({
        ...DENIED,
        message: expect.stringContaining(problem ?? ''),
      });
    await record(manifest);
    const expectRefused = async (changes: readonly string[]) => {
      for (const change of changes) {
        await expect(asRole(`update cold_days set ${change}`), change).rejects.toMatchObject(DENIED);
        // A trigger would refuse the change too, whatever the role was granted.
        await runSql(database.url, `grant update on cold_days to ${role}`);
        await expect(asRole(`update cold_days set ${change}`), change).rejects.toMatchObject(DENIED);
        await grantService(database.url, role);
      }
    };
    await expectRefused([
      `state = 'cold', detached_at = '2001-01-01'`,
      `state = 'unpacked'`,
      `kept_before = 'drc_~'`,
      `manifest = 'another', manifest_hash = 'another'`,
      `(manifest, manifest_hash) = (${valuesOf(`${manifestOf(day)}x`)})`,
    ]);
    await asRole(`select svc_keep_verifiers('${day}', 1)`);
    // The day is kept beside the ledger, and can be put back.
    await asRole(`select svc_detach_day('${day}')`);
    await expectRefused([
      `detached_at = '2001-01-01'`,
      'dropped_at = now()',
      `state = 'recorded', detached_at = null`,
      `state = 'unpacked', detached_at = null`,
    ]);
    for (const sql of [
      'drop table detached_receipts_20310102',
      'delete from detached_receipts_20310102',
      'alter table detached_receipts_20310102 rename to receipts_20310102',
      `update cold_verifications set latest_receipt_id = ''`,
      `insert into cold_verifications values ('g', 'p', 'r', 'drc_')`,
    ])
      await expect(asRole(sql), sql).rejects.toMatchObject(DENIED);
    await expectClearedInTimeAlone();
    const drop = `select svc_drop_detached_day('${day}', 1, 4102444800000)`;
    await expect(asRole(drop)).rejects.toMatchObject(DENIED);
    expect(await state()).toEqual([{ state: 'cold', isKept: true, isThere: true }]);

    await runSql(database.url, `update cold_days set detached_at = now() - interval '2 days'`);
    await runSql(database.url, drop);
    expect(await state()).toEqual([{ state: 'cold', isKept: false, isThere: false }]);
  }, 120_000);

  it.runIf(isDeep)(
    'cannot be dropped by a role that was once granted this: the upgrade revokes it',
    async () => {
      const name = `former_${process.pid}`;
      await runSql(database.url, `create database ${name} template template0`);
      const former = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
      try {
        await migrate(former, { migrations: listMigrations().filter((one) => one.name < '0017') });
        await grantService(former, role);
        const rights = `select has_function_privilege('${role}', 'svc_drop_detached_day(date, integer, bigint)', 'execute') as drop,
        has_column_privilege('${role}', 'cold_days', 'detached_at', 'update') as detached,
        has_column_privilege('${role}', 'cold_days', 'problem', 'update') as problem,
        has_function_privilege('${role}', 'svc_detach_day(date)', 'execute') as detach,
        has_function_privilege('${role}', 'svc_keep_verifiers(date, integer)', 'execute') as keep`;
        const rest = { problem: true, detach: true, keep: true };
        expect(await runSql(former, rights)).toEqual([{ ...rest, drop: true, detached: true }]);
        await migrate(former);
        expect(await runSql(former, rights)).toEqual([{ ...rest, drop: false, detached: false }]);
      } finally {
        await runSql(database.url, `drop database ${name} with (force)`);
      }
    },
  );

  it('can be dropped by a worker that owns the schema, and by no other', async () => {
    for (const [url, isGranted] of [
      [database.url, true],
      [roleUrl(), false],
    ] as const)
      expect(await withSession(url, (session) => coldDayRepository(databaseOn(session)).mayDrop())).toBe(
        isGranted,
      );
  });
});

describe('a role is refused the service', () => {
  const refused = (problem: string) => ({ kind: 'refused', message: expect.stringContaining(problem) });

  it('if it owns the tables, and it keeps its rights', async () => {
    const [owner] = await runSql<{ name: string }>(database.url, 'select current_user as name');
    for (const grant of [grantService, grantRunner])
      await expect(grant(database.url, owner?.name ?? '')).rejects.toMatchObject(
        refused('which owns the tables'),
      );
    await asOwner(`insert into migrations (name, sha256, runs_from) values ('9999-x', 'x', 'x')`);
  });

  it.each([
    ['if it is a member of the owner, whose rights it can assume', 'noinherit in role current_user'],
    ['if it is a superuser', 'superuser'],
  ])('%s', async (_, attributes) => {
    const other = `${role}_other`;
    const [owner] = await runSql<{ name: string }>(database.url, 'select current_user as name');
    const text = attributes.replace('current_user', `"${owner?.name}"`);
    await runSql(database.url, `create role ${other} login ${text}`);
    try {
      await expect(grantService(database.url, other)).rejects.toMatchObject(refused('which owns the tables'));
    } finally {
      await runSql(database.url, `drop role ${other}`);
    }
  });

  it('if it may create tables in the schema', async () => {
    await runSql(database.url, 'grant create on schema public to public');
    try {
      await expect(grantService(database.url, role)).rejects.toMatchObject(
        refused('revoke create on schema'),
      );
    } finally {
      await runSql(database.url, 'revoke create on schema public from public');
    }
  });

  it('at its start if it was granted nothing, and is told to run svc-admin migrate with --service-role', async () => {
    const other = `${role}_other`;
    await runSql(database.url, `create role ${other} login password 'p'`);
    const url = Object.assign(new URL(database.url), { username: other, password: 'p' }).href;
    try {
      await expect(migrate(url)).rejects.toMatchObject(
        refused('as the owner of the database run svc-admin migrate, with --service-role'),
      );
    } finally {
      await runSql(database.url, `drop role ${other}`);
    }
  });

  it('if it does not exist', async () => {
    await expect(grantService(database.url, 'nobody_here')).rejects.toMatchObject(
      refused('role "nobody_here" does not exist'),
    );
  });
});
