/** From the environment to the jobs of this process and what they stand on. */
import { type Config, type Environment, loadSecrets } from '@svc/config';
import {
  ConfigurationError,
  type Job,
  maintenanceJobs,
  type OpenedService,
  openService,
  openTracing,
  readConfig,
} from '@svc/process';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

export interface Worker extends OpenedService {
  readonly config: Config;
  readonly registry: Registry;
  readonly jobs: readonly Job[];
}

/** Throws `ConfigurationError`; rejects when the database cannot be asked. */
export const openWorker = async (env: Environment, logger: Logger): Promise<Worker> => {
  const config = readConfig(env);
  if (config.database.kind !== 'external')
    throw new ConfigurationError([
      'DATABASE_URL is required: the embedded database belongs to the process that starts it',
    ]);
  const secrets = await loadSecrets(config);
  const registry = new Registry();
  const databaseUrl = config.database.url;
  const tracing = await openTracing(env, 'svc-worker', logger);
  const opened = await openService({ config, secrets, databaseUrl, logger, registry });
  const close = () => opened.close().finally(() => tracing.close());
  return { ...opened, close, config, registry, jobs: maintenanceJobs(opened.service) };
};
