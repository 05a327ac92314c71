/**
 * Runs every check over one snapshot of the database. Read-only and offline: signatures are verified with the keys
 * recorded in the database.
 */
import { messageOf, type ObjectStore, StoreError } from '@svc/service';
import { CATALOG_SEARCH_PATH, compareSchema, openClient, type SchemaComparison } from '@svc/store-pg';
import pg from 'pg';
import type { Check, Fault } from './check.ts';
import { coldDayCheck } from './checks/cold-days.ts';
import { consumptionCheck } from './checks/consumption.ts';
import { dayChecks } from './checks/days.ts';
import { daysNotPackedCheck } from './checks/days-not-packed.ts';
import { evidenceCheck } from './checks/evidence.ts';
import { PinSums } from './checks/pin-sums.ts';
import { publishedListCheck } from './checks/published-lists.ts';
import { receiptCheck } from './checks/receipts.ts';
import { restoreCheck } from './checks/restores.ts';
import { ruleChecks } from './checks/rules.ts';
import { schemaCheck } from './checks/schema.ts';
import { statusListCheck } from './checks/status-lists.ts';
import { usageChecks } from './checks/usage.ts';
import { queryOn } from './query.ts';
import { loadServiceKeys, type ServiceKeys } from './service-keys.ts';

const checksOf = (objects: ObjectStore | undefined): readonly Check[] => {
  const pins = objects === undefined ? null : new PinSums();
  return [
    receiptCheck,
    ...dayChecks,
    restoreCheck,
    statusListCheck,
    publishedListCheck,
    evidenceCheck,
    consumptionCheck(pins),
    ...ruleChecks,
    ...usageChecks,
    // After the checks of the logs, because these compute the pins that it compares.
    ...(objects === undefined || pins === null
      ? []
      : [coldDayCheck(objects, pins), daysNotPackedCheck(objects)]),
  ];
};

export interface CheckDatabaseOptions {
  readonly databaseUrl: string;
  /** The store of packed days; without it, packed days are not checked. */
  readonly objects?: ObjectStore;
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
  /** Sentences about what was not checked, and about surplus objects that are not faults. */
  readonly notes: readonly string[];
  readonly checks: readonly {
    readonly name: string;
    readonly promise: string;
    readonly looked: number;
    readonly faults: number;
    readonly durationMs: number;
  }[];
}

const CONNECT_MS = 5_000;
const MAX_OF_LOCK_TABLE = 0.75;

/**
 * Rejects if the database or the store of packed days cannot be read completely: then no result is valid. Rejects with
 * `StoreError` `unavailable` if the database was not reached.
 */
export const checkDatabase = async (options: CheckDatabaseOptions): Promise<CheckSummary> => {
  const client = await openClient({
    databaseUrl: options.databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'svc-admin fsck',
  }).catch((error: unknown) => {
    throw new StoreError('unavailable', messageOf(error), { cause: error });
  });
  try {
    const { rows } = await client.query(`select to_regclass('public.receipts') is not null as exists`);
    await client.query('begin isolation level repeatable read read only');
    // Locked before the snapshot: a day that left the ledger after it would be in neither place.
    if (rows[0]?.exists === true) await client.query('lock table public.receipts in access share mode');
    await client.query(CATALOG_SEARCH_PATH);
    refuseUnmigrated(await compareSchema(queryOn(client)));
    return await runChecks(client, options);
  } finally {
    await client.end().catch(() => {});
  }
};

/** No further check could run on such a schema. */
const refuseUnmigrated = ({ state, newest }: SchemaComparison): void => {
  if (state === 'never')
    throw new Error(
      'this database has never been migrated: it has none of the tables of the service. Does DATABASE_URL name the right one? ' +
        'A new one is made by svc-admin migrate',
    );
  if (state === 'behind')
    throw new Error(
      `the schema is at ${newest}, and this version of svc-admin proves a later one: run svc-admin migrate first, or the fsck of the version at work`,
    );
};

/**
 * The snapshot holds a lock on every partition of the ledger and on its indexes until the end. The locks are shared and
 * block no commit, but they take space in the server's lock table.
 */
const refuseScarceLocks = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ needed: number; room: number }>(
    `select (select count(*) from pg_partition_tree('receipts') t left join pg_index i on i.indrelid = t.relid)::integer
         + (select count(*) from pg_partition_tree('receipts'))::integer as needed,
       current_setting('max_locks_per_transaction')::integer * (current_setting('max_connections')::integer
         + current_setting('max_prepared_transactions')::integer) as room`,
  );
  const { needed = 0, room = 0 } = rows[0] ?? {};
  if (needed > room * MAX_OF_LOCK_TABLE)
    throw new Error(
      `${needed} locks are needed and the server has room for ${room}: a quarter is left to a service at work. ` +
        'Raise max_locks_per_transaction, or check a copy',
    );
};

const runChecks = async (client: pg.Client, options: CheckDatabaseOptions): Promise<CheckSummary> => {
  const query = queryOn(client);
  const notes: string[] = [];
  const run = (check: Check, keys: ServiceKeys) => runCheck(client, check, { keys, notes, ...options });
  // First, because the other checks may fail due to what it finds. It uses nothing of the schema.
  const checks = [await run(schemaCheck, NO_KEYS)];
  await refuseScarceLocks(client);
  const keys = await loadServiceKeys(query);
  for (const check of checksOf(options.objects)) checks.push(await run(check, keys));
  return { serviceDid: keys.serviceDid, notes, checks };
};

const NO_KEYS: ServiceKeys = {
  serviceDid: null,
  dids: new Set(),
  documentOf: () => null,
  documents: [],
  byKid: new Map(),
};

interface Running extends CheckDatabaseOptions {
  readonly keys: ServiceKeys;
  readonly notes: string[];
}

const runCheck = async (
  client: pg.Client,
  { name, promise, countSql, run }: Check,
  { keys, notes, objects, onFault, onProgress = () => {} }: Running,
): Promise<CheckSummary['checks'][number]> => {
  const query = queryOn(client);
  const beganMs = performance.now();
  let looked = 0;
  let faults = 0;
  const report = (where: string, problem: string) => {
    faults += 1;
    onFault({ check: name, where, problem });
  };
  await query('savepoint before_check');
  try {
    const total = Number((await query<{ count: string }>(countSql))[0]?.count ?? 0);
    onProgress({ check: name, done: 0, total });
    const advance = (count: number) => {
      looked += count;
      onProgress({ check: name, done: looked, total });
    };
    const hasObjects = objects !== undefined;
    await run({ query, keys, hasObjects, advance, report, note: (text) => notes.push(text) });
  } catch (error) {
    if (!isLacking(error)) throw error;
    await query('rollback to savepoint before_check');
    report('the schema', `the rest could not be checked: ${error.message}`);
  }
  return { name, promise, looked, faults, durationMs: Math.round(performance.now() - beganMs) };
};

/** A missing table, column, function or object; the schema check has reported it. */
const isLacking = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && ['42P01', '42703', '42883', '42704'].includes(error.code ?? '');
