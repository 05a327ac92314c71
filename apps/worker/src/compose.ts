/**
 * Composes the jobs of this process from the environment. The worker has the keys that sign status lists and
 * checkpoints, and the keys from which webhook secrets are derived. It has no other key, no token and nothing of the
 * sandbox (decision 53).
 */
import { type Environment, loadWorkerSecrets, type WorkerConfig } from '@svc/config';
import {
  type DelivererDeps,
  type Job,
  maintenanceJobs,
  type OpenedService,
  openDeliverer,
  openService,
  openTracing,
  readWorkerConfig,
} from '@svc/process';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

export interface Worker extends OpenedService {
  readonly config: WorkerConfig;
  readonly registry: Registry;
  readonly jobs: readonly Job[];
  /** Null: the deployment sends no webhooks. */
  readonly deliverer: DelivererDeps | null;
}

/** `packThread`: the program itself. Throws `ConfigurationError`; rejects if the database cannot be reached. */
export const openWorker = async (env: Environment, logger: Logger, packThread: URL): Promise<Worker> => {
  const config = readWorkerConfig(env);
  const secrets = await loadWorkerSecrets(config);
  const registry = new Registry();
  const databaseUrl = config.database.url;
  const tracing = await openTracing(env, 'svc-worker', logger);
  const opened = await openService({ config, secrets, databaseUrl, logger, registry, packThread });
  const close = () => opened.close().finally(() => tracing.close());
  const deliverer = openDeliverer(opened.service, config, logger, registry);
  if (deliverer === null && (await opened.service.store.eventSubscriptions.hasSubscribers()))
    logger.warn('webhook.no_root');
  return {
    ...opened,
    close,
    config,
    registry,
    jobs: maintenanceJobs(opened.service, opened.packing),
    deliverer,
  };
};
