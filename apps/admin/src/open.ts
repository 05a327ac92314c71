/** The service as `svc-admin` opens it: with the environment of the API, and without decisions. */
import { pathToFileURL } from 'node:url';
import {
  type Environment,
  type FenceConfig,
  loadWorkerSecrets,
  type ServiceConfig,
  type SigningSecrets,
  secretsOfOthers,
} from '@svc/config';
import { createLogger, type OpenedService, openService, readConfig } from '@svc/process';
import type { ServiceDeps } from '@svc/service';
import { databaseUrlFrom } from './command.ts';

/** The program file. On a thread the program packs days (main.ts), with the memory limits of the worker's thread. */
const PROGRAM_FILE = process.argv[1] ?? '';

/**
 * For commands that sign nothing: they work while a private key is unavailable, or if the first key of a set has ended.
 * `fence`: the configured one; the command does not maintain it. Rejects if the database cannot be reached.
 */
export const withServiceThatSignsNothing = <T>(
  env: Environment,
  work: (service: ServiceDeps, fence: FenceConfig | null) => Promise<T>,
): Promise<T> =>
  withOpened(env, { read: readConfig, load: secretsOfOthers }, ({ service }, fence) => work(service, fence));

/**
 * The same with the status keys, for commands that sign status lists and statements. They work while the keys of
 * Receipts are unavailable.
 */
export const withServiceThatSignsLists: typeof withServiceThatSignsNothing = (env, work) =>
  withOpened(env, { read: readConfig, load: loadWorkerSecrets }, ({ service }, fence) =>
    work(service, fence),
  );

interface Opening {
  readonly read: (env: Environment) => ServiceConfig;
  readonly load: (config: ServiceConfig) => Promise<SigningSecrets>;
}

/** The same, with everything that was opened. */
export const withOpened = async <T>(
  env: Environment,
  { read, load }: Opening,
  work: (opened: OpenedService, fence: FenceConfig | null) => Promise<T>,
): Promise<T> => {
  const databaseUrl = databaseUrlFrom(env);
  const config = read(env);
  const opened = await openService({
    config,
    secrets: await load(config),
    databaseUrl,
    logger: createLogger('error'),
    packThread: pathToFileURL(PROGRAM_FILE),
    isOperator: true,
  });
  try {
    return await work(opened, config.fence);
  } finally {
    await opened.close();
  }
};
