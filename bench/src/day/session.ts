/** SQL on a connection of its own, for what the service never does: fill a day at once, reopen a day. */
import type { Client } from 'pg';
import { withSession } from '../ledger/database.ts';

/** Runs `work` with triggers disabled, which would refuse it. */
export const withoutTriggers = <Result>(
  databaseUrl: string,
  work: (session: Client) => Promise<Result>,
): Promise<Result> =>
  withSession(databaseUrl, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    return work(session);
  });
