/** The database that a process is to work on, before it does: one that keeps what it is told, with the schema of this version. */
import type { Config } from '@svc/config';
import { StoreError } from '@svc/service';
import { checkServer, migrate } from '@svc/store-pg';
import type { Logger } from 'pino';
import { ConfigurationError } from './configuration.ts';

export interface DatabasePlace {
  readonly env: Config['env'];
  /** It was configured, and not started by this process. */
  readonly isExternal: boolean;
}

/**
 * Migrates it. Throws `ConfigurationError`, without the password, if the configured database cannot be reached, `StoreError` if it
 * is of no use.
 */
export const openDatabase = async (
  databaseUrl: string,
  { env, isExternal }: DatabasePlace,
  logger: Logger,
): Promise<void> => {
  try {
    await checkServer(databaseUrl, { mustBeDurable: env === 'production' });
    await migrate(databaseUrl, {
      onWait: (migration) => logger.warn({ migration }, 'migration.waits-for-locks'),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || !isExternal) throw error;
    const place = databaseUrl.replace(/^[^:]+:\/\/([^@/?]*@)?/, '').replace(/\?.*/s, '');
    if (error.kind === 'unavailable')
      throw new ConfigurationError([`DATABASE_URL: ${place} cannot be reached: ${error.message}`]);
    throw error;
  }
};
