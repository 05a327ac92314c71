/** The service as `svc-admin` works on it: with the environment of the API, and without deciding anything. */
import { pathToFileURL } from 'node:url';
import {
  type Config,
  type Environment,
  type FenceConfig,
  loadSecrets,
  type SigningSecrets,
  secretsOfOthers,
} from '@svc/config';
import { createLogger, type OpenedService, openService, readConfig } from '@svc/process';
import type { ServiceDeps } from '@svc/service';
import { databaseUrlFrom } from './command.ts';

/** What runs: on a thread it packs (main.ts), in the memory that the worker's thread has. */
const PROGRAM_FILE = process.argv[1] ?? '';

/** `fence`: as it is configured; nothing keeps it up meanwhile. Rejects when the database cannot be asked. */
export const withService = <T>(
  env: Environment,
  work: (service: ServiceDeps, fence: FenceConfig | null) => Promise<T>,
): Promise<T> => withOpened(env, ({ service }, fence) => work(service, fence));

/** The same for what signs nothing: it goes on while a private key is away, and where the first of a set has ended. */
export const withServiceThatSignsNothing: typeof withService = (env, work) =>
  withOpened(env, ({ service }, fence) => work(service, fence), secretsOfOthers);

/** The same as `withService`, with what else is open. */
export const withOpened = async <T>(
  env: Environment,
  work: (opened: OpenedService, fence: FenceConfig | null) => Promise<T>,
  load: (config: Config) => Promise<SigningSecrets> = loadSecrets,
): Promise<T> => {
  const databaseUrl = databaseUrlFrom(env);
  const config = readConfig(env);
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
