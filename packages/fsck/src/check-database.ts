/**
 * Runs every check over one snapshot of the database. Read only and offline: signatures are verified with the keys
 * recorded in the database.
 */
import pg from 'pg';
import type { Check, Fault } from './check.ts';
import { consumptionCheck } from './checks/consumption.ts';
import { dayChecks } from './checks/days.ts';
import { evidenceCheck } from './checks/evidence.ts';
import { publishedListCheck } from './checks/published-lists.ts';
import { receiptCheck } from './checks/receipts.ts';
import { restoreCheck } from './checks/restores.ts';
import { ruleChecks } from './checks/rules.ts';
import { statusListCheck } from './checks/status-lists.ts';
import { usageChecks } from './checks/usage.ts';
import { queryOn } from './query.ts';
import { loadServiceKeys } from './service-keys.ts';

const CHECKS: readonly Check[] = [
  receiptCheck,
  ...dayChecks,
  restoreCheck,
  statusListCheck,
  publishedListCheck,
  evidenceCheck,
  consumptionCheck,
  ...ruleChecks,
  ...usageChecks,
];

export interface CheckDatabaseOptions {
  readonly databaseUrl: string;
  readonly onFault: (fault: Fault) => void;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly check: string;
  readonly done: number;
  readonly total: number;
}

export interface CheckSummary {
  readonly serviceDid: string | null;
  readonly checks: readonly {
    readonly name: string;
    readonly promise: string;
    readonly looked: number;
    readonly faults: number;
    readonly durationMs: number;
  }[];
}

const CONNECT_MS = 5_000;
const MOST_OF_LOCK_TABLE = 0.75;

/** Rejects when the database cannot be read completely: no result is valid then. */
export const checkDatabase = async (options: CheckDatabaseOptions): Promise<CheckSummary> => {
  const client = new pg.Client({
    connectionString: options.databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'svc-admin fsck',
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await refuseScarceLocks(client);
    await client.query('begin isolation level repeatable read read only');
    return await runChecks(client, options);
  } finally {
    await client.end().catch(() => {});
  }
};

/**
 * The snapshot holds a lock on every partition of the ledger and on its indexes until the end. They are shared locks and
 * block no commit, but they occupy the same lock table.
 */
const refuseScarceLocks = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ needed: number; room: number }>(
    `select (select count(*) from pg_partition_tree('receipts') t left join pg_index i on i.indrelid = t.relid)::integer
         + (select count(*) from pg_partition_tree('receipts'))::integer as needed,
       current_setting('max_locks_per_transaction')::integer * (current_setting('max_connections')::integer
         + current_setting('max_prepared_transactions')::integer) as room`,
  );
  const { needed = 0, room = 0 } = rows[0] ?? {};
  if (needed > room * MOST_OF_LOCK_TABLE)
    throw new Error(
      `${needed} locks are needed and the server has room for ${room}: a quarter is left to a service at work. ` +
        'Raise max_locks_per_transaction, or check a copy',
    );
};

const runChecks = async (
  client: pg.Client,
  { onFault, onProgress = () => {} }: CheckDatabaseOptions,
): Promise<CheckSummary> => {
  const query = queryOn(client);
  const keys = await loadServiceKeys(query);
  const checks: CheckSummary['checks'][number][] = [];
  for (const { name, promise, countSql, run } of CHECKS) {
    const beganMs = performance.now();
    const total = Number((await query<{ count: string }>(countSql))[0]?.count ?? 0);
    let looked = 0;
    let faults = 0;
    onProgress({ check: name, done: 0, total });
    await run({
      query,
      keys,
      advance: (count) => {
        looked += count;
        onProgress({ check: name, done: looked, total });
      },
      report: (where, problem) => {
        faults += 1;
        onFault({ check: name, where, problem });
      },
    });
    checks.push({ name, promise, looked, faults, durationMs: Math.round(performance.now() - beganMs) });
  }
  return { serviceDid: keys.serviceDid, checks };
};
