/** Whether the server takes writes, tested by a write that changes nothing. */
import { StoreError } from '@svc/service';
import pg from 'pg';
import type { Database } from './database.ts';

/**
 * The update needs a server that is not a standby, and a log that can be written. The exported snapshot is a small file
 * beside the tables, removed with the transaction. Without it, an update with room in its page succeeds on a full disk.
 */
const probeSql = `
  with written as (update clock_mark set marked_at = marked_at returning 1)
  select pg_export_snapshot() from written`;

const DISK_FULL = '53100';
const READ_ONLY = '25006';

/** `ok`, or a short description of the problem. Rejects only with errors that are not errors of storage. */
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
