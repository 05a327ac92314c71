/** Plain SQL beside the service, for what no service does: a day filled at once, a day opened again. */
import type { Client } from 'pg';
import { withSession } from '../ledger/database.ts';

/** No trigger refuses what `work` does. */
export const withoutTriggers = <Result>(
  databaseUrl: string,
  work: (session: Client) => Promise<Result>,
): Promise<Result> =>
  withSession(databaseUrl, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    return work(session);
  });
