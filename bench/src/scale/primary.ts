/** What one decision costs the primary, as PostgreSQL counts it since an earlier reading. */
import { setTimeout as delay } from 'node:timers/promises';
import { STATISTICS_SETTLE_MS } from '../harness/database.ts';
import { withSession } from '../ledger/database.ts';

const COUNTERS = `
  select w.wal_bytes::float8 as "walBytes", w.wal_write::float8 as "walWrites", w.wal_sync::float8 as "walSyncs",
    i.writes::float8 as "pageWrites", i.reads::float8 as "pageReads",
    pg_database_size(current_database())::float8 as "storedBytes",
    (select count(*)::float8 from receipts) as receipts
  from pg_stat_wal as w,
    (select sum(coalesce(writes, 0) + coalesce(extends, 0)) as writes, sum(coalesce(reads, 0)) as reads from pg_stat_io) as i`;

const NAMES = [
  'walBytes',
  'walWrites',
  'walSyncs',
  'pageWrites',
  'pageReads',
  'storedBytes',
  'receipts',
] as const;
export type Counters = Readonly<Record<(typeof NAMES)[number], number>>;

/** Reads the counters once the server's sessions have reported theirs; dirty pages are written out before. */
export async function readCounters(databaseUrl: string): Promise<Counters> {
  await delay(STATISTICS_SETTLE_MS);
  return withSession(databaseUrl, async (session) => {
    await session.query('checkpoint');
    const { rows } = await session.query<Counters>(COUNTERS);
    const [counters] = rows;
    if (counters === undefined) throw new Error('PostgreSQL counts nothing');
    return counters;
  });
}

export const between = (before: Counters, after: Counters): Counters =>
  Object.fromEntries(NAMES.map((name) => [name, after[name] - before[name]])) as Counters;

/** Has PostgreSQL time each PL/pgSQL function from now on, which costs some time itself. */
export const timeFunctions = (databaseUrl: string): Promise<void> =>
  withSession(databaseUrl, async (session) => {
    await session.query("alter system set track_functions = 'pl'");
    await session.query('select pg_reload_conf()');
  });

export interface FunctionTime {
  readonly name: string;
  readonly calls: number;
  /** Microseconds in the function itself, including waiting. */
  readonly selfUs: number;
}

export async function readFunctionTimes(databaseUrl: string): Promise<readonly FunctionTime[]> {
  await delay(STATISTICS_SETTLE_MS);
  return withSession(databaseUrl, async (session) => {
    const { rows } = await session.query<FunctionTime>(
      `select funcname as name, calls::float8 as calls, self_time * 1000 as "selfUs"
       from pg_stat_user_functions where calls > 0 order by self_time desc`,
    );
    return rows;
  });
}

/** Number of calls of the function, as a divisor. Throws where the function did not run. */
export function callsOf(functions: readonly FunctionTime[], name: string): number {
  const found = functions.find((one) => one.name === name);
  if (found !== undefined) return found.calls;
  const ran = functions.map((one) => one.name).join(', ') || 'none at all';
  throw new Error(
    `the commit is measured by the calls of ${name}, which did not run; those that did: ${ran}`,
  );
}
