/** Checks the database before a process works on it: it must be durable and have the schema of this version. */
import type { Config } from '@svc/config';
import type { DidWeb } from '@svc/protocol';
import { StoreError } from '@svc/service';
import { checkReplica, checkServer, claimDatabase, migrate, readSchema, schemaFault } from '@svc/store-pg';
import type { Logger } from 'pino';
import { ConfigurationError } from './configuration.ts';

export interface DatabasePlace {
  readonly env: Config['env'];
  /** True: the database is configured, and not started by this process. */
  readonly isExternal: boolean;
  /** The domain in the spelling of DIDs. */
  readonly domain: string;
  /**
   * False: the process does not bind a database that belongs to no service yet. A database of another service is
   * refused in either case.
   */
  readonly mayPin: boolean;
}

/**
 * Migrates the database and, if `mayPin`, binds it to this service. Resolves with the DIDs that the service had before.
 * Throws `ConfigurationError`, without the password, if the configured database cannot be reached. Throws `StoreError`
 * if it is unsuitable, has another schema than its migrations made (in production), or belongs to another service.
 */
export const openDatabase = async (
  databaseUrl: string,
  { env, isExternal, domain, mayPin }: DatabasePlace,
  logger: Logger,
): Promise<readonly DidWeb[]> => {
  try {
    await checkServer(databaseUrl, { mustBeDurable: env === 'production' });
    await migrate(databaseUrl, {
      onWait: (migration) => logger.warn({ migration }, 'migration.waits-for-locks'),
    });
    await checkSchema(databaseUrl, env, logger);
    return await claimDatabase(databaseUrl, { did: `did:web:${domain}`, mayPin });
  } catch (error) {
    if (!(error instanceof StoreError) || !isExternal) throw error;
    if (error.kind === 'unavailable')
      throw new ConfigurationError([describeUnreached(databaseUrl, error.message)]);
    throw error;
  }
};

/** A text that the database of `DATABASE_URL` was not reached, and why; without the password. */
export const describeUnreached = (databaseUrl: string, why: string): string => {
  // Up to the last `@`, since a password that is not encoded may contain any character.
  const place = databaseUrl.replace(/^[^:]+:\/\/(?:.*@)?/s, '').replace(/\?.*/s, '');
  return `DATABASE_URL: ${place} cannot be reached: ${why}`;
};

/**
 * Without a replica reports are read on the primary. So a replica that cannot be reached does not prevent a start; an
 * unsuitable one does.
 */
export const openReplica = async (readUrl: string, logger: Logger): Promise<void> => {
  try {
    await checkReplica(readUrl);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind !== 'unavailable') throw new ConfigurationError([`DATABASE_READ_URL: ${error.message}`]);
    logger.warn({ problem: error.message }, 'replica.not_reached');
  }
};

/** Additional indexes of an operator are allowed; missing or altered objects are a fault. */
const checkSchema = async (databaseUrl: string, env: Config['env'], logger: Logger): Promise<void> => {
  const schema = await readSchema(databaseUrl);
  const fault = schemaFault(schema);
  if (fault !== null && env === 'production') throw fault;
  if (fault !== null || schema.added.length > 0)
    logger.warn({ problem: fault?.message, added: schema.added }, 'schema.differs');
};
