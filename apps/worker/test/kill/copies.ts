/** Databases that are as one was, for one try each. */
import { createDatabase, type DroppableDatabase } from '@svc/testkit';
import pg from 'pg';
import { inject } from 'vitest';

/** Runs `work` on a copy of the database, to which nobody is connected. */
export const onCopy = async <T>(databaseUrl: string, work: (url: string) => Promise<T>): Promise<T> => {
  const copy: DroppableDatabase = await createDatabase(inject('databaseAdminUrl'), databaseUrl);
  try {
    return await work(copy.url);
  } finally {
    await copy.drop();
  }
};

/** A server notices a client's death at its next word to it; its locks go then. */
export const untilAlone = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const others = `select pg_sleep(0.02) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
  while (((await client.query(others)).rowCount ?? 0) > 0);
  await client.end();
};
