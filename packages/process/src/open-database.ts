/** The database that a process is to work on, before it does: one that keeps what it is told, with the schema of this version. */
import type { Config } from '@svc/config';
import type { DidWeb } from '@svc/protocol';
import { StoreError } from '@svc/service';
import { checkReplica, checkServer, claimDatabase, migrate, readSchema, schemaFault } from '@svc/store-pg';
import type { Logger } from 'pino';
import { ConfigurationError } from './configuration.ts';

export interface DatabasePlace {
  readonly env: Config['env'];
  /** It was configured, and not started by this process. */
  readonly isExternal: boolean;
  /** As it stands in DIDs. */
  readonly domain: string;
  /** False: the process is of the service that the database belongs to, and does not say which that is. */
  readonly mayPin: boolean;
}

/**
 * Migrates it, and makes it the database of this service alone; answers the DIDs that the service had before. Throws
 * `ConfigurationError`, without the password, if the configured database cannot be reached, `StoreError` if it is of no
 * use, has another schema than its migrations made (in production), or belongs to another service.
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

/** That the database of `DATABASE_URL` was not reached, and why; without the password. */
export const describeUnreached = (databaseUrl: string, why: string): string => {
  // To the last `@` of all: a password that is not encoded may have any character.
  const place = databaseUrl.replace(/^[^:]+:\/\/(?:.*@)?/s, '').replace(/\?.*/s, '');
  return `DATABASE_URL: ${place} cannot be reached: ${why}`;
};

/** Without a replica reports are read on the primary, so one that is away keeps no process from starting; one of no use does. */
export const openReplica = async (readUrl: string, logger: Logger): Promise<void> => {
  try {
    await checkReplica(readUrl);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind !== 'unavailable') throw new ConfigurationError([`DATABASE_READ_URL: ${error.message}`]);
    logger.warn({ problem: error.message }, 'replica.not_reached');
  }
};

/** Indexes that an operator has added are allowed; objects that are missing or altered are a fault. */
const checkSchema = async (databaseUrl: string, env: Config['env'], logger: Logger): Promise<void> => {
  const schema = await readSchema(databaseUrl);
  const fault = schemaFault(schema);
  if (fault !== null && env === 'production') throw fault;
  if (fault !== null || schema.added.length > 0)
    logger.warn({ problem: fault?.message, added: schema.added }, 'schema.differs');
};
