/** Provides a database full of Receipts, with usage counted: the kept one, or a new one. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '@svc/protocol';
import { rollUpUsage, type UsageRepository } from '@svc/service';
import { createStore } from '@svc/store-pg';
import { type ApiNode, type Place, startApiNode } from '../harness/contestants.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { type LedgerCluster, type LedgerDatabase, withSession } from './database.ts';
import { DAYS, startOfDay } from './days.ts';
import { fill } from './fill.ts';
import { takeTemplates } from './templates.ts';
import { insertTenants, type Tenants } from './tenants.ts';

export interface Ledger {
  readonly receipts: number;
  readonly isShort: boolean;
  readonly firstDayMs: number;
  /** Exclusive, in milliseconds. */
  readonly endMs: number;
  readonly tenants: Tenants;
}

export interface PrepareRequest {
  readonly place: Place;
  readonly cluster: LedgerCluster;
  /** The file that describes the database; written once the database is complete. */
  readonly file: string;
  readonly receipts: number;
  readonly isShort: boolean;
  readonly api: string;
  /** Environment of every program on this database: `homeOf`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly progress: Progress;
}

/**
 * The identity of the service, stored in the folder of the database: a database belongs to one service for good, by its
 * DID and the keys that have signed under it.
 */
export const homeOf = (folder: string) => ({
  SVC_BASE_URL: 'http://localhost:8080',
  SVC_DATA_DIR: join(folder, 'data'),
});

/** Resolves when the database is running, for measuring. */
export async function prepare(
  request: PrepareRequest,
): Promise<{ ledger: Ledger; database: LedgerDatabase }> {
  const { cluster, file, receipts, isShort } = request;
  const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Ledger) : null;
  if (found !== null && (found.receipts !== receipts || found.isShort !== isShort))
    throw new Error(
      `${file} tells of ${found.receipts} other receipts: delete its folder, or ask for the same`,
    );
  const ledger = found ?? (await make(request));
  const database = await cluster.startForMeasuring();
  return { ledger, database };
}

async function make(request: PrepareRequest): Promise<Ledger> {
  const { cluster, file, receipts, isShort, progress } = request;
  rmSync(file, { force: true });
  const { url: databaseUrl } = await cluster.startForFilling();
  const endMs = startOfDay(Date.now());
  const firstDayMs = endMs - DAYS * DAY_MS;
  progress('taking real receipts to copy');
  const templates = await withApi(request, databaseUrl, (node) => takeTemplates(node, isShort));
  progress('registering who takes part');
  const tenants = await insertTenants(databaseUrl, firstDayMs, DAYS);
  await fill({ databaseUrl, firstDayMs, days: DAYS, receipts, templates, progress });
  progress('counting usage, as the worker does');
  await countUsage(databaseUrl, receipts, progress);
  const ledger = {
    receipts,
    isShort,
    firstDayMs,
    endMs,
    tenants,
  };
  writeFileSync(file, JSON.stringify(ledger), { mode: 0o600 });
  return ledger;
}

/** Starts the API, which also migrates the database. */
async function withApi<Result>(
  { place, api, environment }: PrepareRequest,
  databaseUrl: string,
  work: (node: ApiNode) => Promise<Result>,
): Promise<Result> {
  const node = await startApiNode(place, { name: 'filling', api, databaseUrl, environment });
  try {
    return await work(node);
  } finally {
    await node.stop();
  }
}

const PROGRESS_MS = 15_000;
/** Decisions in one step. The worker's steps are shorter, for the sake of the decisions beside them. */
const STEP = 100_000;

/** The worker's job, with the step length of this file. */
export async function countUsage(databaseUrl: string, receipts: number, progress: Progress): Promise<void> {
  // On a machine that is busy with other work a connection takes long.
  const store = createStore({
    databaseUrl,
    deadlines: { connectMs: 10_000, waitMs: 10_000, readMs: 10_000 },
  });
  let done = 0;
  const timer = setInterval(
    () => progress(`${done.toLocaleString('en')} of ${receipts.toLocaleString('en')} counted`),
    PROGRESS_MS,
  );
  try {
    await withSession(databaseUrl, async (session) => {
      const namesOf = async (condition: string): Promise<string> => {
        const { rows } = await session.query<{ name: string }>(
          `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
             and not relispartition and ${condition}`,
        );
        return rows.map(({ name }) => name).join(', ');
      };
      const sums = await namesOf(`relname like 'usage%'`);
      const countSealed = async () => {
        const { rows } = await session.query('select svc_count_usage($1)::integer as counted', [STEP]);
        // As autovacuum does between the steps of a day: removes the old versions of the sums.
        await session.query(`vacuum ${sums}`);
        done += rows[0]?.counted;
        return rows[0]?.counted as number;
      };
      const usage: UsageRepository = { ...store.usage, countSealed };
      const clock = { nowMs: () => Date.now(), resync: async () => {} };
      await rollUpUsage({ store: { ...store, usage }, clock }, new AbortController().signal);
      // Each day was vacuumed when it was full.
      await session.query(`vacuum analyze ${await namesOf('true')}`);
    });
  } finally {
    clearInterval(timer);
    await store.close();
  }
  if (done < receipts) throw new Error(`only ${done} of ${receipts} receipts were counted`);
}
