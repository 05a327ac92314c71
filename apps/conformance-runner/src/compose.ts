/**
 * Composes a runner from the environment: the queue of runs, and the outbound transport. The process has no key of the
 * service, no token and no fence, so an intruder finds none in it.
 */
import type { Environment, RunnerConfig } from '@svc/config';
import {
  createRunReporter,
  createRunTransport,
  type OpenedRuns,
  openRuns,
  openTracing,
  type RunnerDeps,
  readRunnerConfig,
  readVectorsBeside,
} from '@svc/process';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

export interface OpenedRunner {
  readonly config: RunnerConfig;
  readonly registry: Registry;
  readonly runner: RunnerDeps;
  readonly isReachable: OpenedRuns['isReachable'];
  close(): Promise<void>;
}

/** Throws `ConfigurationError`; rejects if the database cannot be reached. */
export const openRunner = async (env: Environment, logger: Logger): Promise<OpenedRunner> => {
  const config = readRunnerConfig(env);
  const vectors = readVectorsBeside(new URL('./vectors/', import.meta.url));
  const registry = new Registry();
  const tracing = await openTracing(env, 'svc-conformance-runner', logger);
  const opened = await openRuns(config, logger, registry);
  const runner = {
    runs: opened.runs,
    // In addition to the database's clock: a run is over only when both say so.
    clock: { nowMs: Date.now },
    vectors,
    transport: createRunTransport(config, config),
    ...createRunReporter(logger, registry),
  };
  const close = () => opened.close().finally(() => tracing.close());
  return { config, registry, runner, isReachable: opened.isReachable, close };
};
