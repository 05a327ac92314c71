/** Creates Receipt partitions ahead of time: from yesterday (a clock may lag over midnight) to a week from now. */
import type pg from 'pg';
import { StoreClient } from './client.ts';

const DAYS_AHEAD = 7;

const ensureSql = `
  select svc_ensure_receipt_partitions(utc.today - 1, utc.today + ${DAYS_AHEAD}) as created
  from (select (clock_timestamp() at time zone 'UTC')::date as today) as utc`;

/** Uses the caller's connection. Answers how many partitions were missing. */
export async function ensurePartitionsOn(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ created: number }>(ensureSql);
  return rows[0]?.created ?? 0;
}

/** Creates the missing partitions and answers how many there were; safe to run anywhere, any number of times. */
export async function ensureReceiptPartitions(databaseUrl: string): Promise<number> {
  const client = new StoreClient({
    databaseUrl,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
  });
  await client.connect();
  try {
    return await ensurePartitionsOn(client);
  } finally {
    await client.end();
  }
}
