/** Compares the schema at the start of a process, on a connection of its own. */
import { StoreError } from '@svc/service';
import { openClient } from '../client.ts';
import { toUnavailable } from '../errors.ts';
import { CATALOG_SEARCH_PATH } from './catalog.ts';
import { compareSchema, type SchemaComparison } from './compare-schema.ts';

const CONNECT_MS = 5_000;
const READ_MS = 30_000;
const NAMED = 10;

/** Rejects with `StoreError` `unavailable` where the database cannot be queried. */
export const readSchema = async (databaseUrl: string): Promise<SchemaComparison> => {
  const client = await openClient({
    databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: READ_MS,
  }).catch((error: unknown) => {
    throw toUnavailable(error);
  });
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query(CATALOG_SEARCH_PATH);
    return await compareSchema(
      async <Row extends object>(text: string) => (await client.query<Row>(text)).rows,
    );
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    client.destroy();
  }
};

/** The error of a start on this schema, or null where it is as migrated. */
export const schemaFault = ({ faults }: SchemaComparison): StoreError | null => {
  if (faults.length === 0) return null;
  const named = faults.slice(0, NAMED).map(({ object, problem }) => `${object} ${problem}`);
  const more = faults.length - named.length;
  return new StoreError(
    'refused',
    `the schema of the database is not the one that its migrations made: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. ` +
      'Was a dump loaded in part, or an object changed by hand? svc-admin fsck names all; restore the database, or put the objects back as schema.sql has them',
  );
};
