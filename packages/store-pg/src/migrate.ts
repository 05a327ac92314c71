/**
 * Brings a database to the newest schema. knex keeps the list of what has run; an advisory lock of this module
 * keeps two migrators apart, which knex alone does not manage on an empty database.
 */
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
 * `unavailable` when the database cannot be reached.
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
    await runMigrations(databaseUrl);
    await ensurePartitionsOn(client);
  } finally {
    await client.end();
  }
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
