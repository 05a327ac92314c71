/** The service as `svc-admin` works on it: with the environment of the API, and without deciding anything. */
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

/** What runs: on a thread it packs (main.ts), in the memory that the worker's thread has. */
const PROGRAM_FILE = process.argv[1] ?? '';

/**
 * For what signs nothing: it goes on while a private key is away, and where the first of a set has ended. `fence`: as it is
 * configured; nothing keeps it up meanwhile. Rejects when the database cannot be asked.
 */
export const withServiceThatSignsNothing = <T>(
  env: Environment,
  work: (service: ServiceDeps, fence: FenceConfig | null) => Promise<T>,
): Promise<T> =>
  withOpened(env, { read: readConfig, load: secretsOfOthers }, ({ service }, fence) => work(service, fence));

/** The same with the status keys, for what signs status lists and statements: it goes on while the keys of Receipts are away. */
export const withServiceThatSignsLists: typeof withServiceThatSignsNothing = (env, work) =>
  withOpened(env, { read: readConfig, load: loadWorkerSecrets }, ({ service }, fence) =>
    work(service, fence),
  );

interface Opening {
  readonly read: (env: Environment) => ServiceConfig;
  readonly load: (config: ServiceConfig) => Promise<SigningSecrets>;
}

/** The same with what else is open. */
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
