/** Whether the server takes writes, told by making one that changes nothing. */
import { StoreError } from '@svc/service';
import pg from 'pg';
import type { Database } from './database.ts';

/**
 * The update needs a server that is no standby, and the log. The exported snapshot is a small file beside the tables, gone
 * with the transaction: without it an update that finds room in its page succeeds on a full disk.
 */
const probeSql = `
  with written as (update clock_mark set marked_at = marked_at returning 1)
  select pg_export_snapshot() from written`;

const DISK_FULL = '53100';
const READ_ONLY = '25006';

/** `ok`, or in a few words what is wrong. Rejects only with what is no error of storage. */
export async function describeHealth(database: Database): Promise<string> {
  try {
    await database.write({ text: probeSql, values: [] });
    return 'ok';
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const state = error.cause instanceof pg.DatabaseError ? error.cause.code : undefined;
    if (state === READ_ONLY) return 'read-only';
    if (state === DISK_FULL) return `disk full: ${error.message}`;
    return error.kind === 'refused' ? `refuses writes: ${error.message}` : 'unreachable';
  }
}
