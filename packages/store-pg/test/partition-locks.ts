/**
 * Counts the days of the ledger that a statement locks. The lock table is shared with the commits, so all days would be
 * too many.
 */

import { withSession } from '@svc/testkit/store/session';
import type pg from 'pg';
import type { Database } from '../src/database.ts';

const lockedSql = `select from pg_locks l join pg_class c on c.oid = l.relation
  where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relname ~ '^receipts_'`;

/** Counts for one statement, prepared or not, and undoes its effect. */
export async function runCountingLocks(
  session: pg.Client,
  statement: pg.QueryConfig,
): Promise<{ readonly rows: never[]; readonly locked: number }> {
  await session.query('begin');
  const { rows } = await session.query<never>(statement);
  const { rowCount } = await session.query(lockedSql);
  await session.query('rollback');
  return { rows, locked: rowCount ?? 0 };
}

/** Highest number of partitions that any statement of `work` locked. */
export const mostPartitionsLocked = (
  url: string,
  work: (database: Database) => Promise<unknown>,
): Promise<number> =>
  withSession(url, async (session) => {
    let most = 0;
    // One after the other, though they are called at once.
    let before: Promise<unknown> = Promise.resolve();
    const read: Database['read'] = ({ values, ...statement }) => {
      const counted = before.then(() => runCountingLocks(session, { ...statement, values: [...values] }));
      before = counted.catch(() => {});
      return counted.then(({ rows, locked }) => {
        most = Math.max(most, locked);
        return rows;
      });
    };
    await work({ read, write: read });
    return most;
  });
