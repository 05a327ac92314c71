// Databases for tests: one cluster for a whole vitest run, one fresh migrated database for each test file.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL on the cluster of this run; projects that need a database get it from the global setup. */
    databaseAdminUrl: string;
  }
}

export const templateDatabase = 'svc_template';

/**
 * The role of the service, as in production: it owns nothing, and has what `svc-admin migrate --service-role` grants.
 */
export const SERVICE_ROLE = 'svc_service';

export const OWNER = 'svc';

/** The same database as that role, where the URL is the owner's. */
export function asService(databaseUrl: string): string {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : null;
  if (url?.username !== OWNER) return databaseUrl;
  url.username = SERVICE_ROLE;
  return url.href;
}

export interface TestDatabase {
  /** `postgres://…/test_…`; its owner may do everything in it. */
  readonly url: string;
}

/**
 * A fresh migrated database for this test file, dropped after its last test. Call it at the top of the file, before the
 * file's own hooks, so that everything they opened is closed before the drop.
 */
export function withDatabase(): TestDatabase {
  let database: DroppableDatabase | null = null;
  beforeAll(async () => {
    database = await createDatabase(inject('databaseAdminUrl'));
  });
  afterAll(() => database?.drop());
  return {
    get url() {
      if (database === null) throw new Error('the database exists from beforeAll on');
      return database.url;
    },
  };
}

export interface DroppableDatabase extends TestDatabase {
  /** Ends the remaining sessions and deletes the database. */
  drop(): Promise<void>;
}

/** Copies the migrated template, or another database of this server without sessions. The caller drops it. */
export async function createDatabase(adminUrl: string, sourceUrl?: string): Promise<DroppableDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const source = sourceUrl === undefined ? templateDatabase : new URL(sourceUrl).pathname.slice(1);
  // Copies files: a copy through the log would be written twice.
  await execute(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`);
  return {
    url: databaseUrl(adminUrl, name),
    drop: () => execute(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** URL of another database on the same server. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
