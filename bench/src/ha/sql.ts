/** Statements of the suite itself. */
import { Client, type QueryResultRow } from 'pg';

const CONNECT_MS = 5_000;

/** Runs a statement on a connection of its own, which is closed in every case. */
export async function runSql<Row extends QueryResultRow>(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The server's own database, from which another one is created and dropped. */
export const ownDatabase = (databaseUrl: string): string => databaseUrl.replace(/[^/]*$/, 'postgres');
