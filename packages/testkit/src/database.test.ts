import { Client } from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createDatabase, withDatabase } from './database.ts';

describe('withDatabase', () => {
  const database = withDatabase();

  it('gives each test file its own migrated database', async () => {
    const other = await createDatabase(inject('databaseAdminUrl'));
    try {
      expect(other.url).not.toBe(database.url);
      const tables = `SELECT count(*)::int AS n FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
      const [{ n: mine }, { n: theirs }] = [await one(database.url, tables), await one(other.url, tables)];
      expect(mine).toBeGreaterThan(0);
      expect(theirs).toBe(mine);
      await one(database.url, 'CREATE TABLE only_here (n int)');
      await expect(one(other.url, 'SELECT * FROM only_here')).rejects.toThrow(/does not exist/);
    } finally {
      await other.drop();
    }
  });
});

describe('createDatabase', () => {
  let left: Client | undefined;
  afterAll(() => left?.end().catch(() => undefined));

  it('creates a database that drop() removes although a forgotten session uses it', async () => {
    const database = await createDatabase(inject('databaseAdminUrl'));
    left = new Client({ connectionString: database.url });
    left.on('error', () => undefined);
    await left.connect();
    await database.drop();
    await expect(one(database.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  });
});

async function one(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}
