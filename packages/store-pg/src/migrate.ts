/**
 * Brings a database to the newest schema. A session advisory lock keeps two migrators apart; each migration runs in one
 * transaction with the row that records it.
 */
import { createHash } from 'node:crypto';
import { StoreError } from '@svc/service';
import pg from 'pg';
import { toUnavailable } from './errors.ts';
import { listMigrations, type Migration } from './migrations.ts';
import { ensurePartitionsOn } from './partitions.ts';

const CONNECT_MS = 5_000;
/** No other module uses this space of locks. A migration itself may take longer: it is not cut off. */
const LOCK = { text: 'select pg_advisory_lock(4, 0)', query_timeout: 60_000 };

/**
 * Safe to run from several processes at once; each returns when the schema is up to date, with the names of the migrations
 * that it has run. Rejects with `StoreError`
 * `unavailable` when the database cannot be reached, `refused` when another version made it.
 */
export async function migrate(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw toUnavailable(error);
  }
  try {
    await client.query(LOCK);
    const migrations = listMigrations();
    const recorded = await listRecorded(client);
    for (const [index, { name, sha256 }] of recorded.entries()) {
      const migration = migrations[index];
      if (migration?.name !== name || hashOf(migration) !== sha256)
        throw madeByAnother(`its migration ${name} is not the one of this version`);
    }
    const missing = migrations.slice(recorded.length);
    if (missing.length > 0) await openRecord(client, missing);
    for (const migration of missing) await run(client, migration);
    await ensurePartitionsOn(client);
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

const hashOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex');

interface Recorded {
  readonly name: string;
  readonly sha256: string;
}

/** What has run, in its order. It must be the beginning of what this version has, word for word. */
async function listRecorded(client: pg.Client): Promise<readonly Recorded[]> {
  const { rows: found } = await client.query<{ hasRecord: boolean; isEmpty: boolean }>(
    `select to_regclass('migrations') is not null as "hasRecord", to_regclass('receipts') is null as "isEmpty"`,
  );
  const { hasRecord, isEmpty } = found[0] ?? { hasRecord: false, isEmpty: false };
  if (!hasRecord && !isEmpty) throw madeByAnother('it has no record of its migrations');
  if (!hasRecord) return [];
  const { rows } = await client.query<Recorded>('select name, sha256 from migrations order by name');
  return rows;
}

async function openRecord(client: pg.Client, missing: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(
    `select has_schema_privilege('public', 'create') as may`,
  );
  if (rows[0]?.may !== true)
    throw new StoreError(
      'refused',
      `migrations are missing (${missing.map(({ name }) => name).join(', ')}), and this role may not run them: ` +
        'run svc-admin migrate as the owner of the database',
    );
  await client.query(
    `create table if not exists migrations (
      name text collate "C" primary key,
      sha256 text not null,
      ran_at timestamptz not null default clock_timestamp()
    )`,
  );
}

/** Gives a role what the running service needs. By the owner of the schema, after each migration. */
export async function grantService(databaseUrl: string, role: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select svc_grant_service($1)', [role]);
  } finally {
    await client.end();
  }
}

/** Cut off anywhere, it has not run: the transaction ends with the session. */
async function run(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  await client.query(migration.sql);
  await client.query('insert into migrations (name, sha256) values ($1, $2)', [
    migration.name,
    hashOf(migration),
  ]);
  await client.query('commit');
}

const madeByAnother = (why: string): StoreError =>
  new StoreError(
    'refused',
    `the database was made by another version: ${why}. In development, delete the folder postgres in SVC_DATA_DIR`,
  );
