/**
 * Whether acknowledged commits are on a second machine: commits wait for a standby, and such a standby is connected.
 */
import type { Database } from './database.ts';

/** A role without `pg_read_all_stats` sees that standbys are connected, and none of their details. */
const standbySql = `
  select current_setting('synchronous_standby_names') as names, count(*)::integer as connected,
    count(sync_state)::integer as described, count(*) filter (where sync_state in ('sync', 'quorum'))::integer as synchronous
  from pg_stat_replication`;

interface Standbys {
  readonly names: string;
  readonly connected: number;
  readonly described: number;
  readonly synchronous: number;
}

/** `ok`, or a short description of what is missing. Rejects with `StoreError`. */
export async function describeStandby(database: Database): Promise<string> {
  const [row] = await database.read<Standbys & Record<string, unknown>>({ text: standbySql, values: [] });
  if (row === undefined) throw new Error('the look at the standbys answered no row');
  if (row.names === '') return 'synchronous_standby_names is empty: what is answered is on one machine alone';
  if (row.connected === 0) return 'no standby is connected: commits wait, and nothing is answered';
  if (row.described > 0 && row.synchronous === 0)
    return 'none of the connected standbys is synchronous: commits wait, and nothing is answered';
  return 'ok';
}
