/** From the environment to a running API: configuration, secrets, database, listeners, signals. */
import { join } from 'node:path';
import {
  type Config,
  describeVariables,
  type Environment,
  loadSecrets,
  parseConfig,
  type Secrets,
} from '@svc/config';
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

/** A configuration that cannot be started; the message lists every fault. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

export const runApi = async (env: Environment, logger: Logger): Promise<RunningApi> => {
  const parsed = parseConfig(env);
  if (!parsed.ok) throw new ConfigurationError(parsed.faults.map((fault) => `  ${fault}`).join('\n'));
  const { config } = parsed;
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

/** Ends the process in order on SIGINT and SIGTERM; a second signal ends it at once. */
export const closeOnSignal = (close: () => Promise<void>, logger: Logger): void => {
  let closing = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (closing) process.exit(1);
    closing = true;
    logger.info({ signal }, 'stopping');
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
};

/** What went wrong at start, for a person at a terminal. */
export const explainStartFailure = (error: unknown): string => {
  if (error instanceof ConfigurationError)
    return `The configuration cannot be used:\n${error.message}\n\nThe variables:\n\n${describeVariables()}`;
  return `The service cannot start: ${error instanceof Error ? error.message : String(error)}`;
};
