/** The conformance runner's access to the database: the runs and nothing else (docs/operations.md). */
import type { RunnerConfig } from '@svc/config';
import { createRunStore, type RunStore } from '@svc/store-pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { openDatabase } from '../open-database.ts';
import { createEventCounter, createProcessMetrics } from '../service-metrics.ts';

export type OpenedRuns = RunStore;

/** Rejects, with everything released, if the database cannot be reached. */
export const openRuns = async (
  { databaseUrl, env, domain }: Pick<RunnerConfig, 'databaseUrl' | 'env' | 'domain'>,
  logger: Logger,
  registry: Registry,
): Promise<OpenedRuns> => {
  const count = createEventCounter(registry);
  createProcessMetrics(registry);
  await openDatabase(databaseUrl, { env, isExternal: true, domain, mayPin: false }, logger);
  const onError = (error: Error) => {
    count('storage');
    logger.warn({ error: error.message }, 'storage');
  };
  return createRunStore({ databaseUrl, onError });
};
