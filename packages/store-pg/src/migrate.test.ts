import { fileURLToPath } from 'node:url';
import { withDatabase } from '@svc/testkit';
import { describeDecisionType, describeSchema } from '@svc/testkit/store/describe-schema';
import { runSql, withSession } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from './migrate.ts';
import { listMigrations, migrationOf } from './migrations.ts';
import { lowestReceiptId } from './receipt-ids.ts';

const database = withDatabase();
const emptyName = `empty_${process.pid}`;
const emptyUrl = () => Object.assign(new URL(database.url), { pathname: `/${emptyName}` }).href;

const refused = { kind: 'refused', message: expect.stringContaining('made by another version') };

describe('migrate', () => {
  beforeAll(() => runSql(database.url, `create database ${emptyName} template template0`));
  afterAll(() => runSql(database.url, `drop database ${emptyName} with (force)`));

  it('runs each migration once and in order when several processes start on an empty database', async () => {
    const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(emptyUrl())));
    // One of them has run all migrations, and reports them.
    expect(ran.flat()).toEqual(listMigrations().map(({ name }) => name));
    const rows = await runSql(emptyUrl(), 'select name from migrations order by ran_at');
    expect(rows).toEqual(listMigrations().map(({ name }) => ({ name })));
  });

  it('0054 builds its index with a ShareLock on grants, and keeps the index that the former version uses', async () => {
    await migrate(emptyUrl());
    const migration = listMigrations().find(({ name }) => name.startsWith('0054-'));
    const building = /create index if not exists grants_unstamped_by_principal[^;]*;/.exec(
      migration?.sql ?? '',
    );
    await withSession(emptyUrl(), async (session) => {
      await session.query('drop index grants_unstamped_by_principal');
      await session.query('begin');
      await session.query(building?.[0] ?? '');
      const { rows } = await session.query(
        `select mode from pg_locks where pid = pg_backend_pid() and relation = 'grants'::regclass order by mode`,
      );
      expect(rows).toEqual([{ mode: 'ShareLock' }]);
      await session.query('commit');
      expect(migration?.sql).not.toMatch(/drop index/i);
    });
  });

  it('0055 marks outcomes of denials for ISSUER_UNVERIFIED, also those that the previous version inserts later', async () => {
    await runSql(database.url, `drop database ${emptyName} with (force)`);
    await runSql(database.url, `create database ${emptyName} template template0`);
    await migrate(emptyUrl(), { migrations: listMigrations().filter(({ name }) => name < '0055') });
    const atMs = Date.parse('2025-12-01T00:00:00Z');
    const rows = ['ISSUER_UNVERIFIED', 'GRANT_EXPIRED', 'AMOUNT_EXCEEDED'].map((reason, i) => ({
      ...{ receipt_id: lowestReceiptId(atMs + i), attestation_id: `oat_${i}`, reason, ordinal: 1 },
      ...{ relying_party: 'rp', principal: 'p', decision: 'DENY', evaluated_at: new Date(atMs + i) },
      ...{ jws: 'x', content_hash: `\\x${'00'.repeat(32)}`, production_check: false },
      ...{ type: 'cancelled', occurred_at: '', recorded_at: '2025-12-02T00:00:00Z' },
    }));
    await withSession(emptyUrl(), async (session) => {
      await session.query(`select svc_ensure_receipt_partitions('2025-11-30', '2025-12-02')`);
      await session.query(`set session_replication_role = replica`);
      for (const table of ['receipts', 'attestations'])
        await session.query(
          `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`,
          [JSON.stringify(rows)],
        );
    });
    expect(await migrate(emptyUrl())).toContain('0062-beside-older-nodes');
    expect(
      await runSql(emptyUrl(), 'select issuer_unverified as found from attestations order by attestation_id'),
    ).toEqual([{ found: true }, { found: false }, { found: false }]);
    // An insert by the previous version, which does not know the column.
    const { rows: reported } = await withSession(emptyUrl(), (session) =>
      session.query(
        `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at)
         select 'later_' || attestation_id, receipt_id, 2, relying_party, principal, evaluated_at, decision, type, occurred_at
         from attestations order by attestation_id returning issuer_unverified as found`,
      ),
    );
    expect(reported).toEqual([{ found: true }, { found: false }, { found: false }]);
    await expect(runSql(emptyUrl(), `update attestations set note = 'x'`)).rejects.toThrow();
  });

  it('0061 holds no lock of the audit log while it waits for transactions that write Grants', async () => {
    await migrate(emptyUrl());
    const { sql = '' } = listMigrations().find(({ name }) => name.startsWith('0061-')) ?? {};
    await withSession(emptyUrl(), (writer) =>
      withSession(emptyUrl(), async (session) => {
        await writer.query('begin; lock table grants in row exclusive mode');
        const done = session.query(`begin; ${sql}; commit`);
        const locks = async () => {
          const { rows } = await writer.query<{ relation: string; granted: boolean }>(
            `select relation::regclass::text as relation, granted from pg_locks
              where mode = 'ShareLock' and relation in ('grants'::regclass, 'audit_events'::regclass)`,
          );
          return rows;
        };
        await expect.poll(locks, { timeout: 20_000 }).toEqual([{ relation: 'grants', granted: false }]);
        await writer.query('commit');
        await done;
      }),
    );
  });

  it('0063 takes the lock of event_subscriptions before it locks event_deliveries', async () => {
    await migrate(emptyUrl());
    const { sql = '' } = listMigrations().find(({ name }) => name.startsWith('0063-')) ?? {};
    const [locking = ''] = /do \$\$.*?\$\$;/s.exec(sql) ?? [];
    await withSession(emptyUrl(), (writer) =>
      withSession(emptyUrl(), async (session) => {
        // The order of a transaction that records an outcome: it locks a subscription's row, and then writes
        // deliveries.
        await writer.query('begin; lock table event_subscriptions in row share mode');
        const done = session.query(
          `begin; ${locking}; drop index if exists event_subscriptions_active; commit`,
        );
        const waiting = async () => {
          const { rows } = await writer.query(
            `select relation::regclass::text as relation from pg_locks
              where not granted and relation = 'event_subscriptions'::regclass`,
          );
          return rows.length;
        };
        await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
        await writer.query(
          `set lock_timeout = '5s'; lock table event_deliveries in row exclusive mode; commit`,
        );
        await done;
      }),
    );
  });

  it('refuses a database whose migrations have other texts or are not recorded', async () => {
    await migrate(emptyUrl());
    const [first] = listMigrations();
    const setHash = (sha256: string | undefined) =>
      runSql<{ sha256: string }>(
        emptyUrl(),
        `update migrations m set sha256 = $1 from migrations o where o.name = m.name and m.name = $2
         returning o.sha256`,
        [sha256, first?.name],
      );
    const [kept] = await setHash('x');
    await expect(migrate(emptyUrl())).rejects.toMatchObject(refused);
    await runSql(emptyUrl(), 'alter table migrations rename to elsewhere');
    await expect(migrate(emptyUrl())).rejects.toMatchObject(refused);
    await runSql(emptyUrl(), 'alter table elsewhere rename to migrations');
    await setHash(kept?.sha256);
    await migrate(emptyUrl());
  });

  it('refuses a database whose single-row tables lost their row, as after a failed dump, and names the table', async () => {
    await migrate(emptyUrl());
    const names = await runSql<{ name: string }>(
      emptyUrl(),
      `select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
       where a.attname = 'is_only_row' and c.relkind = 'r'`,
    );
    expect(names.length).toBeGreaterThan(5);
    for (const { name } of names) {
      await runSql(emptyUrl(), `alter table ${name} rename to kept`);
      await runSql(emptyUrl(), `create table ${name} (like kept)`);
      await expect(migrate(emptyUrl()), name).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining(`${name} has lost its only row`),
      });
      await runSql(emptyUrl(), `drop table ${name}`);
      await runSql(emptyUrl(), `alter table kept rename to ${name}`);
    }
    await migrate(emptyUrl());
  });

  it("starts beside a later version if that version's migrations allow it, and otherwise says which version to start", async () => {
    await migrate(emptyUrl());
    const newest = listMigrations().at(-1)?.name;
    const later = (runsFrom: string | undefined) =>
      runSql(
        emptyUrl(),
        `insert into migrations (name, sha256, runs_from) values ('9999-later', 'x', $1)
         on conflict (name) do update set runs_from = $1`,
        [runsFrom],
      );
    await later('9999-later');
    await expect(migrate(emptyUrl())).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('start a later version'),
    });
    await later(newest);
    expect(await migrate(emptyUrl())).toEqual([]);
    await runSql(emptyUrl(), `delete from migrations where name = '9999-later'`);
  });

  it('waits for a reader without blocking others, and a process with nothing to migrate does not wait', async () => {
    await migrate(emptyUrl());
    const later = migrationOf('9999-later', 'alter table receipts add column later integer');
    await withSession(emptyUrl(), async (reader) => {
      await reader.query('begin');
      await reader.query('select count(*) from receipts');
      let waits = 0;
      const migrations = [...listMigrations(), later];
      const done = migrate(emptyUrl(), { migrations, onWait: () => waits++ });
      await withSession(emptyUrl(), async (decision) => {
        await decision.query(`set lock_timeout = '5s'`);
        while (waits < 2) await decision.query('select count(*) from receipts');
      });
      // For the previous version no migration is missing.
      expect(await migrate(emptyUrl())).toEqual([]);
      await expect(migrate(emptyUrl(), { migrations, lockMs: 0 })).rejects.toMatchObject({
        kind: 'lock_timeout',
        message: 'another process migrates the database, and had not ended after 0 s',
      });
      await reader.query('commit');
      expect(await done).toEqual(['9999-later']);
    });
    await runSql(emptyUrl(), `alter table receipts drop column later`);
    await runSql(emptyUrl(), `delete from migrations where name = '9999-later'`);
  });

  it('rolls back a migration that was cut off, and runs it again', async () => {
    await runSql(database.url, `drop database ${emptyName} with (force)`);
    await runSql(database.url, `create database ${emptyName} template template0`);
    // Recording this migration fails, so it fails after all its statements.
    const [name, made] = ['0008-replica-marks', 'replica_marks'];
    await runSql(
      emptyUrl(),
      `create table migrations (name text collate "C" primary key check (name <> '${name}'),
         sha256 text not null, runs_from text not null, ran_at timestamptz not null default clock_timestamp())`,
    );
    await expect(migrate(emptyUrl())).rejects.toThrow('migrations_name_check');
    const [left] = await runSql(emptyUrl(), `select to_regclass('${made}') as "table"`);
    expect(left).toEqual({ table: null });
    await runSql(emptyUrl(), 'alter table migrations drop constraint migrations_name_check');
    await migrate(emptyUrl());
    const [there] = await runSql(emptyUrl(), `select to_regclass('${made}')::text as "table"`);
    expect(there).toEqual({ table: made });
  });
});

it('an unreachable database is reported as unavailable with the reason', async () => {
  const nowhere = Object.assign(new URL(database.url), { port: '1' }).href;
  await expect(migrate(nowhere)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

it('schema.sql is the schema of a migrated database', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(
    await describeSchema(database.url),
    'after a new migration, `npx vitest run --project store-pg migrate.test -u` renews schema.sql',
  ).toMatchFileSnapshot(file);
});

it('svc-decision.generated.ts has the fields of the database type in their order', async () => {
  const file = fileURLToPath(new URL('./verify/svc-decision.generated.ts', import.meta.url));
  await expect(await describeDecisionType(database.url)).toMatchFileSnapshot(file);
});
