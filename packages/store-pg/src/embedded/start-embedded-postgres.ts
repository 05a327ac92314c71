// A real PostgreSQL without an installation, for development and tests: `npm start` and `npm test` need nothing but
// Node and npm. Never used where DATABASE_URL is set. It listens on 127.0.0.1 only and asks for a password.
import { readFileSync } from 'node:fs';
import { realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { type Binaries, prepareBinaries } from './binaries.ts';
import { type Cluster, openCluster, ownerOfCluster, pgdataOf, prepareDataDir, superuser } from './cluster.ts';
import {
  findPostmaster,
  isAlive,
  launchPostmaster,
  removeStalePidFile,
  stopPostmaster,
} from './postmaster.ts';
import { EmbeddedPostgresError, lastLines } from './problem.ts';
import { findServerUser, type ServerUser } from './server-user.ts';

export interface EmbeddedPostgresOptions {
  /** The directory that holds the cluster, made if absent. */
  readonly dataDir: string;
  /** False for throw-away data: commits do not wait for the disk. Default true. */
  readonly durable?: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** Started as root: the users to run as, the first that exists. Default `postgres`, `nobody`. */
  readonly users?: readonly string[];
}

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/postgres`, a superuser's. */
  readonly url: string;
  readonly port: number;
  /** The postmaster's process id. */
  readonly pid: number;
  /** Where the cluster really lies. */
  readonly dataDir: string;
  /** True if a server was running already. */
  readonly isReused: boolean;
  /** What the person who started this should know, one sentence each; usually none. */
  readonly notes: readonly string[];
  /** Ends the server and resolves when it has ended; a server whose living starter is another process stays. Idempotent. */
  stop(options?: { readonly deadlineMs?: number }): Promise<void>;
}

const startDeadlineMs = 30_000;
const reuseDeadlineMs = 10_000;
const answerDeadlineMs = 2_000;
const retryMs = 100;
const fastStopMs = 10_000;

/** Starts the cluster in `dataDir`, or joins the server that already runs on it. Throws `EmbeddedPostgresError`. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const notes: string[] = [];
  const existing = await ownerOfCluster(resolve(options.dataDir));
  const chosen = findServerUser(options.users);
  const user = chosen === null ? null : (existing ?? chosen);
  const binaries = await prepareBinaries(user, notes);
  const dataDir = await prepareDataDir(options.dataDir, user, notes);
  const cluster = await openCluster(dataDir, options.durable ?? true, binaries, user);
  const server = await startOrJoin(cluster, options, binaries, user);
  return describe(server, cluster, dataDir, binaries, notes);
}

/** Stops whatever server runs on `dataDir` (as `EmbeddedPostgres` names it), whoever started it, and deletes the cluster. */
export async function removeEmbeddedPostgres(dataDir: string): Promise<void> {
  const place = await realpath(dataDir).catch(() => null);
  if (place === null) return;
  const running = findPostmaster(pgdataOf(place));
  if (running !== null) await stopPostmaster(running.pid, null, 0);
  await rm(place, { recursive: true, force: true });
}

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly isReused: boolean;
  readonly isOwned: boolean;
}

/**
 * The loop ends by its deadline. It goes round when another process starts the same cluster at this moment, when the
 * probed port was taken meanwhile, and when the processes of a killed server have not all ended yet.
 */
async function startOrJoin(
  cluster: Cluster,
  options: EmbeddedPostgresOptions,
  binaries: Binaries,
  user: ServerUser | null,
): Promise<Server> {
  const giveUpAt = performance.now() + startDeadlineMs;
  for (;;) {
    const running = findPostmaster(cluster.pgdata);
    if (running !== null) {
      const joined = await joinServer(running.pid, cluster);
      if (joined !== null) return joined;
    }
    await removeStalePidFile(cluster.pgdata);
    const port = options.port ?? (await findFreePort());
    try {
      const { pid } = await launchPostmaster({
        binaries,
        user,
        pgdata: cluster.pgdata,
        logFile: cluster.logFile,
        settings: settings(port, options.durable ?? true),
        deadlineMs: startDeadlineMs,
      });
      await recordStarter(cluster);
      return { pid, port, isReused: false, isOwned: true };
    } catch (problem) {
      if (performance.now() >= giveUpAt || !isPassing(lastLines(cluster.logFile), options.port))
        throw problem;
      await delay(retryMs);
    }
  }
}

function settings(port: number, durable: boolean): readonly string[] {
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=100',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
}

/** The server that runs already, once it answers; null if it was an orphan that did not, and has been ended. */
async function joinServer(pid: number, cluster: Cluster): Promise<Server | null> {
  const starter = findStarter(cluster);
  const giveUpAt = performance.now() + reuseDeadlineMs;
  let problem: unknown;
  do {
    const running = findPostmaster(cluster.pgdata);
    if (running === null) return null;
    try {
      if (running.isReady) {
        await ask(urlOf(running.port, cluster));
        if (starter === null) await recordStarter(cluster);
        return { pid: running.pid, port: running.port, isReused: true, isOwned: starter === null };
      }
    } catch (reason) {
      problem = reason;
    }
    await delay(retryMs);
  } while (performance.now() < giveUpAt);
  if (starter !== null) {
    const what = `PostgreSQL (process ${pid}) runs on ${cluster.pgdata} but does not answer; process ${starter} started it`;
    throw new EmbeddedPostgresError(what, lastLines(cluster.logFile), problem);
  }
  await stopPostmaster(pid, null, 0);
  return null;
}

/** The living process that started the server. None: it is an orphan, and whoever joins it stops it. */
function findStarter(cluster: Cluster): number | null {
  try {
    const pid = Number(readFileSync(cluster.starterFile, 'utf8'));
    return Number.isInteger(pid) && pid > 0 && isAlive(pid) ? pid : null;
  } catch {
    return null;
  }
}

async function recordStarter(cluster: Cluster) {
  await rm(cluster.starterFile, { force: true });
  await writeFile(cluster.starterFile, String(process.pid), { flag: 'wx' });
}

function isPassing(log: string, fixedPort: number | undefined): boolean {
  if (/lock file "postmaster.pid" already exists|shared memory block .* still in use/.test(log)) return true;
  return fixedPort === undefined && /could not (bind|create any TCP)/.test(log);
}

async function ask(url: string) {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: answerDeadlineMs,
    query_timeout: answerDeadlineMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

const urlOf = (port: number, cluster: Cluster) =>
  `postgres://${superuser}:${cluster.password}@127.0.0.1:${port}/postgres`;

function describe(
  server: Server,
  cluster: Cluster,
  dataDir: string,
  binaries: Binaries,
  notes: readonly string[],
): EmbeddedPostgres {
  let stopping: Promise<void> | null = null;
  // Asked before every signal: the number may be another process's by now.
  const isRunning = () => findPostmaster(cluster.pgdata)?.pid === server.pid;
  // Our process ends without stop(): the server is told to go, so that nothing but SIGKILL leaves an orphan.
  const atExit = () => {
    if (isRunning()) process.kill(server.pid, 'SIGINT');
  };
  if (server.isOwned) process.once('exit', atExit);
  const stop = async (deadlineMs: number) => {
    if (!server.isOwned) return;
    if (isRunning()) await stopPostmaster(server.pid, binaries, deadlineMs);
    process.removeListener('exit', atExit);
  };
  return {
    url: urlOf(server.port, cluster),
    port: server.port,
    pid: server.pid,
    dataDir,
    isReused: server.isReused,
    notes,
    stop(options) {
      stopping ??= stop(options?.deadlineMs ?? fastStopMs);
      return stopping;
    },
  };
}

function findFreePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => found(port));
    });
  });
}
