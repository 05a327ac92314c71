/** Copies of a prepared database, one for each attempt. */
import { createDatabase, type DroppableDatabase } from '@svc/testkit';
import { inject } from 'vitest';

/** Runs `work` on a copy of the database, which must have no open connection. */
export const onCopy = async <T>(databaseUrl: string, work: (url: string) => Promise<T>): Promise<T> => {
  const copy: DroppableDatabase = await createDatabase(inject('databaseAdminUrl'), databaseUrl);
  try {
    return await work(copy.url);
  } finally {
    await copy.drop();
  }
};
