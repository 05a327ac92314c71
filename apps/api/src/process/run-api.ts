/** From the environment to a running API: configuration, secrets, database, listeners. */
import { join } from 'node:path';
import { type Config, type Environment, loadSecrets, type Secrets } from '@svc/config';
import { readConfig } from '@svc/process';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/store-pg/embedded';
import type { Logger } from 'pino';
import { type Api, startApi } from '../compose.ts';

export interface RunningApi {
  readonly api: Api;
  readonly config: Config;
  readonly secrets: Secrets;
  /** Listeners, then storage, then the embedded database. */
  close(): Promise<void>;
}

export const runApi = async (env: Environment, logger: Logger): Promise<RunningApi> => {
  const config = readConfig(env);
  const secrets = loadSecrets(config);
  const embedded = config.database.kind === 'embedded' ? await startDatabase(config, logger) : null;
  const databaseUrl = config.database.kind === 'external' ? config.database.url : (embedded?.url ?? '');
  try {
    const api = await startApi({ config, secrets, databaseUrl, logger });
    const close = async () => {
      await api.close();
      await embedded?.stop();
    };
    return { api, config, secrets, close };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
};

const startDatabase = async ({ dataDir }: Config, logger: Logger): Promise<EmbeddedPostgres> => {
  const embedded = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  for (const note of embedded.notes) logger.info({ note }, 'embedded database');
  return embedded;
};
