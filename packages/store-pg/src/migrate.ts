/**
 * Brings a database to the newest schema. A session advisory lock keeps two migrators apart. Nothing else waits for
 * that lock: a process whose migrations are all present starts while a later version migrates. Each migration runs in
 * one transaction with the row that records it. It waits only shortly for a lock, because all decisions queue behind a
 * lock request that waits.
 *
 * A database may be ahead of this version, during the upgrade of a fleet or after an upgrade was rolled back. So each
 * migration names the oldest migration that a version must contain to run beside it (`-- runs-from: NAME`,
 * docs/operations.md).
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@svc/service';
import type pg from 'pg';
import { GONE_CLIENTS, openClient } from './client.ts';
import { isServerAnswer, toStoreError, toUnavailable } from './errors.ts';
import { LOCK_SPACES } from './locks.ts';
import { listMigrations, type Migration } from './migrations.ts';
import { ensurePartitionsOn } from './partitions.ts';

const CONNECT_MS = 5_000;
/**
 * Limit of statements that need no lock, so that a server that hangs is reported. A migration may take longer, and is
 * not cut off.
 */
const READ_MS = 10_000;
const LOCK = {
  text: `select pg_try_advisory_lock(${LOCK_SPACES.migration}, 0) as "isHeld"`,
  query_timeout: READ_MS,
};
const LOCK_MS = 60_000;
const LOCK_LOOK_MS = 250;

/**
 * Shorter than any decision waits. Where a reader holds a table, the migration gives up its place in the lock queue and
 * tries again.
 */
const LOCK_TIMEOUT_MS = 200;
const RETRY_MS = 500;
const GIVE_UP_MS = 600_000;

export interface MigrateOptions {
  /** Default: the migrations of this version. */
  readonly migrations?: readonly Migration[];
  /** How long to wait for another process that migrates, ms. Default 60,000. */
  readonly lockMs?: number;
  /** Called each time a migration could not get its locks. */
  readonly onWait?: (migration: string) => void;
}

/**
 * Safe to run from several processes at once, where each has a session of its own (`checkServer`). Each returns when
 * the schema is up to date, with the names of the migrations that it ran itself. Rejects with `StoreError`:
 * - `unavailable` when the database cannot be reached;
 * - `refused` when the database was made by another version that this one does not run beside, is not whole, or lacks
 *   migrations that the role may not run;
 * - `lock_timeout` when its locks were not free for ten minutes, or another process migrated for longer than `lockMs`.
 */
export async function migrate(
  databaseUrl: string,
  { migrations = listMigrations(), lockMs = LOCK_MS, onWait = () => {} }: MigrateOptions = {},
): Promise<readonly string[]> {
  return connected(databaseUrl, async (client) => {
    const missing = await listMissingAlone(client, migrations, lockMs);
    if (missing.length > 0) {
      await assertMayRun(client, missing);
      await openRecord(client);
    }
    for (const migration of missing) await runWithin(client, migration, onWait);
    await assertWhole(client);
    await ensurePartitionsOn(client);
    return missing.map(({ name }) => name);
  });
}

/**
 * Makes the checks that `migrate` makes before it writes anything, by the same role. Rejects where another version made
 * the database that this one does not run beside, where migrations are missing that the role may not run, or where the
 * database is not whole.
 */
export const checkMigrations = (databaseUrl: string): Promise<void> =>
  connected(databaseUrl, async (client) => {
    const migrations = listMigrations();
    const recorded = await listRecorded(client);
    assertRunsBeside(recorded, migrations);
    const missing = migrations.slice(recorded.length);
    if (missing.length > 0) await assertMayRun(client, missing);
    await assertWhole(client);
  });

/** Runs `work` on a connection of its own. */
async function connected<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openClient({
    databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    settings: GONE_CLIENTS,
  }).catch((error: unknown) => {
    throw toUnavailable(error);
  });
  try {
    return await work(client);
  } catch (error) {
    throw isServerAnswer(error) ? toStoreError(error, 'nothing') : error;
  } finally {
    await client.end();
  }
}

/**
 * The migrations to run. Takes the lock if there are any, and lists them again: the former holder may have run them.
 */
async function listMissingAlone(
  client: pg.Client,
  migrations: readonly Migration[],
  lockMs: number,
): Promise<readonly Migration[]> {
  const giveUpAtMs = performance.now() + lockMs;
  let isHeld = false;
  for (;;) {
    const recorded = await listRecorded(client);
    assertRunsBeside(recorded, migrations);
    const missing = migrations.slice(recorded.length);
    if (missing.length === 0 || isHeld) return missing;
    const { rows } = await client.query<{ isHeld: boolean }>(LOCK);
    isHeld = rows[0]?.isHeld === true;
    if (isHeld) continue;
    if (performance.now() > giveUpAtMs)
      throw new StoreError(
        'lock_timeout',
        `another process migrates the database, and had not ended after ${lockMs / 1_000} s`,
      );
    await delay(LOCK_LOOK_MS);
  }
}

/**
 * The migrations recorded and those of this version must be equal as far as both lists go. A recorded migration beyond
 * this version must allow this version beside it.
 */
const assertRunsBeside = (recorded: readonly Recorded[], migrations: readonly Migration[]): void => {
  const newest = migrations.at(-1)?.name ?? '';
  for (const [index, { name, sha256, runsFrom }] of recorded.entries()) {
    const migration = migrations[index];
    if (migration === undefined) {
      if (runsFrom > newest)
        throw new StoreError(
          'refused',
          `the database is at ${name}, which runs with versions that have ${runsFrom}; this one ends at ${newest}: start a later version`,
        );
    } else if (migration.name !== name || hashOf(migration) !== sha256)
      throw madeByAnother(`its migration ${name} is not the one of this version`);
  }
};

const hashOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex');

interface Recorded {
  readonly name: string;
  readonly sha256: string;
  readonly runsFrom: string;
}

/** The migrations that have run, in order. */
async function listRecorded(client: pg.Client): Promise<readonly Recorded[]> {
  const { rows: found } = await client.query<{ hasRecord: boolean; isEmpty: boolean }>({
    text: `select to_regclass('migrations') is not null as "hasRecord", to_regclass('receipts') is null as "isEmpty"`,
    query_timeout: READ_MS,
  } as pg.QueryConfig);
  const { hasRecord, isEmpty } = found[0] ?? { hasRecord: false, isEmpty: false };
  if (!hasRecord && !isEmpty) throw madeByAnother('it has no record of its migrations');
  if (!hasRecord) return [];
  const { rows } = await client.query<Recorded>({
    text: 'select name, sha256, runs_from as "runsFrom" from migrations order by name',
    query_timeout: READ_MS,
  } as pg.QueryConfig);
  return rows;
}

async function assertMayRun(client: pg.Client, missing: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(
    `select has_schema_privilege('public', 'create') as may`,
  );
  if (rows[0]?.may !== true)
    throw new StoreError(
      'refused',
      `migrations are missing (${missing.map(({ name }) => name).join(', ')}), and this role may not run them: ` +
        'run svc-admin migrate as the owner of the database',
    );
}

const openRecord = (client: pg.Client): Promise<unknown> =>
  client.query(
    `create table if not exists migrations (
      name text collate "C" primary key,
      sha256 text not null,
      runs_from text collate "C" not null,
      ran_at timestamptz not null default clock_timestamp()
    )`,
  );

/** A dump that was loaded in part can leave a table of one row empty. Decisions that read that table would all fail. */
async function assertWhole(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname = 'is_only_row' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
       and has_table_privilege(c.oid, 'select') order by 1`,
  );
  for (const { name } of rows) {
    const { rowCount } = await client.query(`select from ${name}`);
    if (rowCount === 0)
      throw new StoreError(
        'refused',
        `the database is not whole: ${name} has lost its only row. Was it restored from a dump that ended with an error?`,
      );
  }
}

/**
 * Grants a role what the running service needs. Run by the owner of the schema; later migrations keep the grant.
 * Rejects with `StoreError` `refused` where the role does not exist, or may act as an owner: no rule of the schema
 * would bind it.
 */
export const grantService = (databaseUrl: string, role: string): Promise<void> =>
  grant(databaseUrl, 'select svc_grant_service($1)', role);

/** Grants a role what a conformance runner needs: the queue of runs. */
export const grantRunner = (databaseUrl: string, role: string): Promise<void> =>
  grant(databaseUrl, 'select svc_grant_runner($1)', role);

const grant = (databaseUrl: string, statement: string, role: string): Promise<void> =>
  connected(databaseUrl, async (client) => {
    await assertOwnsNothing(client, role);
    await client.query(statement, [role]);
  });

// A superuser is a member of every role. The owner of a schema may drop what is in it.
const ownershipSql = `
  select pg_get_userbyid(c.relowner) as owner, pg_has_role($1::name, c.relowner, 'member') as "isOwner",
    has_schema_privilege($1::name, n.oid, 'create') or pg_has_role($1::name, n.nspowner, 'member') as "mayCreate"
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where c.oid = 'receipts'::regclass`;

/** The grant would also remove the owner's own rights, and the owner could not migrate any more. */
async function assertOwnsNothing(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ owner: string; isOwner: boolean; mayCreate: boolean }>(ownershipSql, [
    role,
  ]);
  const { owner = '', isOwner = false, mayCreate = false } = rows[0] ?? {};
  if (isOwner)
    throw new StoreError(
      'refused',
      `${role} may do all that ${owner} may, which owns the tables: no append-only rule would hold against it. ` +
        'Name a role that is neither the owner, nor a member of it, nor a superuser',
    );
  if (mayCreate)
    throw new StoreError(
      'refused',
      `${role} may create tables in the schema public: make another role the owner of the database, ` +
        'and run: revoke create on schema public from public',
    );
}

async function runWithin(
  client: pg.Client,
  migration: Migration,
  onWait: (migration: string) => void,
): Promise<void> {
  const giveUpAtMs = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      return await run(client, migration);
    } catch (error) {
      const problem = toStoreError(error, 'nothing');
      if (problem.kind !== 'lock_timeout' || performance.now() > giveUpAtMs) throw problem;
      await client.query('rollback');
      onWait(migration.name);
      await delay(RETRY_MS);
    }
  }
}

// A service role may insert Receipts. A runner role may update columns of conformance runs, and is not a service role.
const grantedSql = `
  with
    service as (
      select acl.grantee
      from pg_class as c, aclexplode(c.relacl) as acl
      where
        c.oid = to_regclass('receipts')
        and acl.privilege_type = 'INSERT'
        and acl.grantee not in (0, c.relowner)
    ),
    runner as (
      select acl.grantee
      from pg_class as c join pg_attribute as a on a.attrelid = c.oid, aclexplode(a.attacl) as acl
      where
        c.oid = to_regclass('conformance_runs')
        and acl.privilege_type = 'UPDATE'
        and acl.grantee not in (0, c.relowner)
      except
      select grantee from service
    )
  select pg_get_userbyid(grantee) as role, true as "isService" from service
  union all
  select pg_get_userbyid(grantee), false from runner`;

/**
 * Renews the grants of service and runner roles in the migration's transaction. So they have their rights on new
 * objects from the moment these exist: nodes of the previous version commit through functions that the migration
 * replaces.
 */
async function grantAgain(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string; isService: boolean }>(grantedSql);
  for (const { role, isService } of rows)
    await client.query(isService ? 'select svc_grant_service($1)' : 'select svc_grant_runner($1)', [role]);
}

/** A migration that is cut off at any point has not run: its transaction ends with the session. */
async function run(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query(migration.sql);
  await grantAgain(client);
  await client.query('insert into migrations (name, sha256, runs_from) values ($1, $2, $3)', [
    migration.name,
    hashOf(migration),
    migration.runsFrom,
  ]);
  await client.query('commit');
}

const madeByAnother = (why: string): StoreError =>
  new StoreError(
    'refused',
    `the database was made by another version: ${why}. In development, delete the folder postgres in SVC_DATA_DIR`,
  );
