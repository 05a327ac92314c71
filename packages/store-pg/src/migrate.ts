/**
 * Brings a database to the newest schema. knex keeps the list of what has run; an advisory lock of this module
 * keeps two migrators apart, which knex alone does not manage on an empty database.
 */
import { createHash } from 'node:crypto';
import { StoreError } from '@svc/service';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { toUnavailable } from './errors.ts';
import { type Migration, migrations } from './migrations/migrations.ts';
import { ensurePartitionsOn } from './partitions.ts';

/** Session lock of the migrator; no other module uses this space. */
const MIGRATION_LOCK = 'pg_advisory_lock(4, 0)';
const WAIT_MS = 60_000;

const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: async () => [...migrations],
  getMigrationName: ({ name }) => name,
  getMigration: async ({ sql }) => ({
    up: (transaction) => transaction.raw(sql),
    down: () => Promise.reject(new Error('migrations only go forward')),
  }),
};

/**
 * Safe to run from several processes at once; each returns when the schema is up to date. Rejects with `StoreError`
 * `unavailable` when the database cannot be reached, `refused` when another version made it.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    query_timeout: WAIT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw toUnavailable(error);
  }
  try {
    await client.query(`select ${MIGRATION_LOCK}`);
    await refuseOtherTexts(client);
    await runMigrations(databaseUrl);
    await recordTexts(client);
    await ensurePartitionsOn(client);
  } finally {
    await client.end();
  }
}

const hashOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex');

/** What ran under the name of a migration must be this migration: one that was changed since would be taken for done. */
async function refuseOtherTexts(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ run: boolean; texts: boolean }>(
    `select to_regclass('knex_migrations') is not null as run, to_regclass('migration_texts') is not null as texts`,
  );
  if (tables[0]?.run !== true) return;
  const { rows } = await client.query<{ name: string; sha256: string | null }>(
    tables[0].texts
      ? 'select name, sha256 from knex_migrations left join migration_texts using (name)'
      : 'select name, null as sha256 from knex_migrations',
  );
  const ran = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  const other = migrations.find(
    (migration) => ran.has(migration.name) && ran.get(migration.name) !== hashOf(migration),
  );
  if (other !== undefined)
    throw new StoreError(
      'refused',
      `the database was made by another version: its migration ${other.name} is not the one of this version. ` +
        'In development, delete the folder postgres in SVC_DATA_DIR',
    );
}

async function recordTexts(client: pg.Client): Promise<void> {
  await client.query(
    'create table if not exists migration_texts (name text primary key, sha256 text not null)',
  );
  await client.query(
    `insert into migration_texts select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
    [migrations.map(({ name }) => name), migrations.map(hashOf)],
  );
}

async function runMigrations(databaseUrl: string): Promise<void> {
  const runner = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 1 } });
  try {
    const config = { migrationSource };
    // A migrator that died left its mark in knex's own lock table. Under our lock nobody else can be at work.
    await runner.migrate.forceFreeMigrationsLock(config);
    await runner.migrate.latest(config);
  } finally {
    await runner.destroy();
  }
}
