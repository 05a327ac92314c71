import type { Client } from 'pg';
import type { Database } from '../src/database.ts';

/** A `Database` on one session, independent of a store's role. */
export const databaseOn = (session: Client): Database => {
  const run: Database['read'] = async ({ text, values }) =>
    (await session.query(text, [...values])).rows as never[];
  return { read: run, write: run };
};
