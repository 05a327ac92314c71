/** Starts an API from the environment: configuration, data folder, ports, secrets, database, listeners. */
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, type Environment, loadSecrets, openDataDir, type Secrets } from '@svc/config';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { ConfigurationError, openTracing, readConfig } from '@svc/process';
import type { Logger } from 'pino';
import { type Api, type ApiDeps, startApi } from '../compose.ts';
import { READ_THREAD } from '../read-thread-file.ts';
import { lockInstance } from './instance-lock.ts';
import { findPortFaults } from './port-faults.ts';

export interface RunningApi {
  readonly api: Api;
  readonly config: Config;
  readonly secrets: Secrets;
  /** Sentences for the person who started the process; usually none. */
  readonly notes: readonly string[];
  /**
   * Closes the listeners, then storage, then the embedded database, then releases the data folder. Parameters as of
   * `Api`.
   */
  close(...how: Parameters<Api['close']>): Promise<void>;
}

export interface RunOptions {
  /** True: this process owns the data folder alone; always so with the embedded database. */
  readonly ownsDataDir: boolean;
  /** Given if a supervisor holds the ports (fleet.ts). */
  readonly createAdmin?: ApiDeps['createAdmin'];
  /** Given if this process packs days too (start.ts). */
  readonly packThread?: URL;
}

/**
 * Throws `ConfigurationError`, or another error that says why the API cannot start. Everything is closed again then.
 */
export const runApi = async (
  env: Environment,
  logger: Logger,
  { ownsDataDir, createAdmin, packThread }: RunOptions = { ownsDataDir: false },
): Promise<RunningApi> => {
  const config = readConfig(env);
  const isOwner = ownsDataDir || config.database.kind === 'embedded';
  const ports = createAdmin === undefined ? findPortFaults(config) : [];
  const claim = claimPlaces(config, isOwner, await ports);
  try {
    const secrets = await loadSecrets(config);
    const tracing = await openTracing(env, 'svc-api', logger);
    const running = await start(
      {
        ...{ config, secrets, logger, readThread: READ_THREAD },
        ...(createAdmin && { createAdmin }),
        ...(packThread && { packThread }),
      },
      claim.release,
    );
    const close = (...how: Parameters<Api['close']>) => running.close(...how).finally(() => tracing.close());
    return { ...running, close };
  } catch (error) {
    claim.release();
    throw error;
  }
};

const start = async (deps: Omit<ApiDeps, 'databaseUrl'>, release: () => void): Promise<RunningApi> => {
  const { config, secrets, logger } = deps;
  const embedded = config.database.kind === 'embedded' ? await startDatabase(config, logger) : null;
  const databaseUrl = config.database.kind === 'external' ? config.database.url : (embedded?.url ?? '');
  try {
    const api = await startApi({ ...deps, databaseUrl });
    const close = async (...how: Parameters<Api['close']>) => {
      await api.close(...how);
      await embedded?.stop();
      release();
    };
    return { api, config, secrets, notes: [...secrets.notes, ...(embedded?.notes ?? [])], close };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
};

/** Throws `ConfigurationError` that lists what is in use already: the folder by another instance, or a port. */
const claimPlaces = (config: Config, isOwner: boolean, faults: readonly string[]): { release(): void } => {
  if (isOwner) openDataDir(config.dataDir);
  const lock = isOwner ? lockInstance(config.dataDir) : ({ held: true, release: () => {} } as const);
  if (!lock.held)
    throw new ConfigurationError([
      `another instance (process ${lock.ownerPid}) uses SVC_DATA_DIR ${resolve(config.dataDir)}; ` +
        'stop it, or set SVC_DATA_DIR to another folder',
      ...faults,
    ]);
  if (faults.length === 0) return lock;
  lock.release();
  throw new ConfigurationError(faults);
};

/**
 * While the database runs, the file `database-url` in the data folder contains its URL, for tools beside this process.
 */
const startDatabase = async ({ dataDir }: Config, logger: Logger): Promise<EmbeddedPostgres> => {
  const embedded = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  for (const note of embedded.notes) logger.info({ note }, 'embedded database');
  const urlFile = join(dataDir, 'database-url');
  const stop: EmbeddedPostgres['stop'] = async (options) => {
    await embedded.stop(options);
    rmSync(urlFile, { force: true });
  };
  try {
    rmSync(urlFile, { force: true });
    writeFileSync(urlFile, `${embedded.url}\n`, { mode: 0o600, flag: 'wx' });
    return { ...embedded, stop };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
};
