// A real PostgreSQL without an installation, for development and tests: `npm start` and `npm test` need nothing but
// Node and npm. Never used where DATABASE_URL is set. It listens on 127.0.0.1 only and asks for a password.
import { realpath, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { prepareBinaries } from './binaries.ts';
import { openCluster, ownerOfCluster, pgdataOf, prepareDataDir } from './cluster.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';
import { startOrJoin, urlOf } from './server.ts';
import { findServerUser } from './server-user.ts';

export { EmbeddedPostgresError } from './problem.ts';

export interface EmbeddedPostgresOptions {
  /** The directory that holds the cluster; created if absent. */
  readonly dataDir: string;
  /** False for throw-away data: commits do not wait for the disk. Default true. */
  readonly durable?: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** When started as root: the users to run as; the first that exists is used. Default `postgres`, `nobody`. */
  readonly users?: readonly string[];
  /** Added to the server's environment, which is otherwise almost empty. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/postgres`, of a superuser. */
  readonly url: string;
  readonly port: number;
  /** The postmaster's process id. */
  readonly pid: number;
  /** Actual directory of the cluster. */
  readonly dataDir: string;
  /** True if a server was running already. */
  readonly isReused: boolean;
  /** Messages for the person who started this, one sentence each; usually none. */
  readonly notes: readonly string[];
  /**
   * Resolves when the server has ended. A server whose starter is another running process is not stopped. Idempotent.
   */
  stop(options?: { readonly deadlineMs?: number }): Promise<void>;
}

const fastStopMs = 10_000;

/** Starts the cluster in `dataDir`, or joins the server that already runs on it. Throws `EmbeddedPostgresError`. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const notes: string[] = [];
  const durable = options.durable ?? true;
  const chosen = findServerUser(options.users);
  const user = chosen === null ? null : ((await ownerOfCluster(resolve(options.dataDir))) ?? chosen);
  const binaries = await prepareBinaries(user, notes);
  const dataDir = await prepareDataDir(options.dataDir, user, notes);
  const cluster = await openCluster(dataDir, durable, binaries, user);
  const server = await startOrJoin({
    ...{ cluster, binaries, user, durable, port: options.port },
    env: options.env ?? {},
  });

  // Asked before every signal: the process id may be another process's by now.
  const isRunning = () => findPostmaster(cluster.pgdata)?.pid === server.pid;
  const atExit = () => {
    if (isRunning()) process.kill(server.pid, 'SIGINT');
  };
  if (server.isOwned) doAtExit(atExit);

  const stop = async (deadlineMs: number) => {
    if (!server.isOwned) return;
    if (isRunning()) await stopPostmaster(server.pid, binaries, deadlineMs);
    endings.delete(atExit);
  };
  let stopping: Promise<void> | null = null;
  return {
    url: urlOf(server.port, cluster),
    port: server.port,
    pid: server.pid,
    dataDir,
    isReused: server.isReused,
    notes,
    stop(how) {
      stopping ??= stop(how?.deadlineMs ?? fastStopMs);
      return stopping;
    },
  };
}

/**
 * Stops any server that runs on `dataDir` (as `EmbeddedPostgres` names it), whoever started it, and deletes the
 * cluster.
 */
export async function removeEmbeddedPostgres(dataDir: string): Promise<void> {
  const place = await realpath(dataDir).catch(() => null);
  if (place === null) return;
  const running = findPostmaster(pgdataOf(place));
  if (running !== null) await stopPostmaster(running.pid, null, 0);
  await rm(place, { recursive: true, force: true });
}

/** Stops the servers when our process ends without stop(), so that only SIGKILL leaves an orphan. */
const endings = new Set<() => void>();
let isWatchingExit = false;

function doAtExit(ending: () => void) {
  endings.add(ending);
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.once('exit', () => {
    for (const end of endings) end();
  });
}
