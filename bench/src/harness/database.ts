/** A durable PostgreSQL for one contestant, so that its figures contain no checkpoints and statistics of another. */
import { mkdir } from 'node:fs/promises';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { Client } from 'pg';
import type { Cleanup } from './cleanup.ts';

export interface Database {
  readonly url: string;
  readonly postgresPid: number;
  /** URL of the server's database `postgres`, and the server's folder. */
  readonly adminUrl: string;
  readonly dataDir: string;
  /** Writes out the pages that earlier load has left dirty. */
  checkpoint(): Promise<void>;
  /** Totals since the server started. Exact once its sessions have been idle for `STATISTICS_SETTLE_MS`. */
  readTotals(): Promise<Totals>;
}

export interface Totals {
  readonly fsyncs: number;
  readonly receipts: number;
}

/** Milliseconds: an idle session of PostgreSQL reports its statistics after ten seconds at the latest. */
export const STATISTICS_SETTLE_MS = 10_500;

export async function startDatabase(folder: string, cleanup: Cleanup): Promise<Database> {
  await mkdir(folder);
  const server = await startEmbeddedPostgres({ dataDir: folder, durable: true });
  cleanup.add(async () => {
    await server.stop();
    for (const place of new Set([server.dataDir, folder])) await removeEmbeddedPostgres(place);
  });
  const url = new URL(server.url);
  url.pathname = '/bench';
  await query(server.url, 'create database bench');
  const settings = await query(
    server.url,
    "select current_setting('fsync'), current_setting('synchronous_commit')",
  );
  if (Object.values(settings[0] ?? {}).some((value) => value !== 'on'))
    throw new Error('PostgreSQL is not durable');
  return {
    url: url.href,
    ...{ postgresPid: server.pid, adminUrl: server.url, dataDir: server.dataDir },
    checkpoint: async () => {
      await query(url.href, 'checkpoint');
    },
    readTotals: async () => {
      const sql =
        'select wal_sync::int as fsyncs, (select count(*)::int from receipts) as receipts from pg_stat_wal';
      const [totals] = await query(url.href, sql);
      return { fsyncs: Number(totals?.fsyncs), receipts: Number(totals?.receipts) };
    },
  };
}

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
