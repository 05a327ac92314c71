/**
 * The database of the ledger benchmark. It can be kept between runs, since filling it takes far longer than measuring.
 */
import { mkdir } from 'node:fs/promises';
import { type EmbeddedPostgres, removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { Client } from 'pg';
import type { Cleanup } from '../harness/cleanup.ts';

/** Milliseconds: writing out what is in memory takes a while. */
const STOP_MS = 300_000;

/**
 * Settings only for filling. A day is emptied and filled in one transaction; with a minimal WAL PostgreSQL then writes
 * its rows once, not twice.
 */
const FILLING = [
  'wal_level = minimal',
  'max_wal_senders = 0',
  "max_wal_size = '2GB'",
  "shared_buffers = '512MB'",
  "maintenance_work_mem = '256MB'",
  'autovacuum = off',
];

export interface LedgerDatabase {
  readonly url: string;
  readonly postgresPid: number;
}

export class LedgerCluster {
  private server: EmbeddedPostgres | null = null;

  private constructor(
    private readonly folder: string,
    private readonly isKept: boolean,
  ) {}

  static async open(folder: string, isKept: boolean, cleanup: Cleanup): Promise<LedgerCluster> {
    await mkdir(folder, { recursive: true });
    const cluster = new LedgerCluster(folder, isKept);
    cleanup.add(() => cluster.close());
    return cluster;
  }

  /** Starts an empty database for filling, which is not durable. */
  async startForFilling(): Promise<LedgerDatabase> {
    const plain = await this.start(false);
    for (const setting of FILLING) await execute(plain.url, `alter system set ${setting}`);
    const server = await this.start(false);
    await execute(server.url, 'drop database if exists bench with (force)');
    await execute(server.url, 'create database bench');
    return databaseOf(server);
  }

  /** Starts the database for measuring: durable, with the default settings. */
  async startForMeasuring(): Promise<LedgerDatabase> {
    const asFound = await this.start(true);
    await execute(asFound.url, 'alter system reset all');
    return databaseOf(await this.start(true));
  }

  private async start(durable: boolean): Promise<EmbeddedPostgres> {
    await this.stop();
    this.server = await startEmbeddedPostgres({ dataDir: this.folder, durable });
    return this.server;
  }

  private async stop(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    await execute(server.url, 'checkpoint');
    await server.stop({ deadlineMs: STOP_MS });
    this.server = null;
  }

  private async close(): Promise<void> {
    const places = new Set([this.server?.dataDir ?? this.folder, this.folder]);
    await this.stop();
    if (!this.isKept) for (const place of places) await removeEmbeddedPostgres(place);
  }
}

const databaseOf = (server: EmbeddedPostgres): LedgerDatabase => {
  const url = new URL(server.url);
  url.pathname = '/bench';
  return { url: url.href, postgresPid: server.pid };
};

export const execute = (url: string, text: string): Promise<void> =>
  withSession(url, async (session) => {
    await session.query(text);
  });

export async function withSession<Result>(
  url: string,
  work: (session: Client) => Promise<Result>,
): Promise<Result> {
  const session = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  session.on('error', () => undefined);
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}
