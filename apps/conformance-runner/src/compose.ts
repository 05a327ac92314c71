/** From the environment to a runner and what it stands on. */
import { type Config, type Environment, loadSecrets } from '@svc/config';
import {
  ConfigurationError,
  createRunReporter,
  createRunTransport,
  openService,
  openTracing,
  type RunnerDeps,
  readConfig,
  readVectorsBeside,
} from '@svc/process';
import type { Store } from '@svc/service';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

export interface OpenedRunner {
  readonly config: Config;
  readonly registry: Registry;
  readonly runner: RunnerDeps;
  readonly store: Store;
  close(): Promise<void>;
}

/** Throws `ConfigurationError`; rejects when the database cannot be asked. */
export const openRunner = async (env: Environment, logger: Logger): Promise<OpenedRunner> => {
  const config = readConfig(env);
  if (config.database.kind !== 'external')
    throw new ConfigurationError([
      'DATABASE_URL is required: the embedded database belongs to the process that starts it',
    ]);
  const vectors = readVectorsBeside(new URL('./vectors/', import.meta.url));
  const secrets = await loadSecrets(config);
  const registry = new Registry();
  const databaseUrl = config.database.url;
  const tracing = await openTracing(env, 'svc-conformance-runner', logger);
  const opened = await openService({ config, secrets, databaseUrl, logger, registry });
  const { service } = opened;
  const close = () => opened.close().finally(() => tracing.close());
  const runner = {
    runs: service.store.conformanceRuns,
    clock: service.clock,
    vectors,
    transport: createRunTransport(config, service.identity),
    ...createRunReporter(logger, registry),
  };
  return { config, registry, runner, store: service.store, close };
};
