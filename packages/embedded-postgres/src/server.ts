// One server for each cluster: started, or joined where it runs already.

import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Binaries } from './binaries.ts';
import { type Cluster, superuser } from './cluster.ts';
import { isAlive } from './is-alive.ts';
import {
  findPostmaster,
  launchPostmaster,
  type RunningPostmaster,
  removeStalePidFile,
  startedBySetting,
  stopPostmaster,
} from './postmaster.ts';
import { EmbeddedPostgresError, lastLines } from './problem.ts';
import type { ServerUser } from './server-user.ts';

export interface Server {
  readonly pid: number;
  readonly port: number;
  readonly isReused: boolean;
  /** Whether we stop the server: we started it, or its starter has ended. */
  readonly isOwned: boolean;
}

export interface ServerRequest {
  readonly cluster: Cluster;
  readonly binaries: Binaries;
  readonly user: ServerUser | null;
  readonly durable: boolean;
  readonly port: number | undefined;
  readonly env: Readonly<Record<string, string>>;
}

const startDeadlineMs = 30_000;
const joinDeadlineMs = 10_000;
const answerDeadlineMs = 2_000;
const retryMs = 100;

/**
 * Tries again, within its deadline, in three cases: another process is starting the same cluster, the probed port was
 * taken meanwhile, or processes of a killed server have not all ended yet.
 */
export async function startOrJoin(request: ServerRequest): Promise<Server> {
  const { cluster } = request;
  const giveUpAt = performance.now() + startDeadlineMs;
  for (;;) {
    const running = findPostmaster(cluster.pgdata);
    const joined = running === null ? null : await join(running, cluster);
    if (joined !== null) return joined;
    await removeStalePidFile(cluster.pgdata);
    try {
      return await launch(request);
    } catch (problem) {
      if (performance.now() >= giveUpAt || !isPassing(lastLines(cluster.logFile), request.port))
        throw problem;
      await delay(retryMs);
    }
  }
}

export const urlOf = (port: number, { password }: Cluster) =>
  `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`;

async function launch({ cluster, binaries, user, durable, port, env }: ServerRequest): Promise<Server> {
  const { pgdata, logFile } = cluster;
  const chosen = port ?? (await findFreePort());
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${chosen}`,
    'unix_socket_directories=',
    'max_connections=300',
    'timezone=UTC',
    'log_timezone=UTC',
    `${startedBySetting}=${process.pid}`,
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const { pid } = await launchPostmaster({
    env,
    binaries,
    user,
    pgdata,
    logFile,
    settings,
    deadlineMs: startDeadlineMs,
  });
  await recordStarter(cluster);
  return { pid, port: chosen, isReused: false, isOwned: true };
}

/** The server that runs already, once it answers; null if it was an orphan that did not answer and was ended. */
async function join(found: RunningPostmaster, cluster: Cluster): Promise<Server | null> {
  const { pid } = found;
  const starter = findStarter(found, cluster);
  const giveUpAt = performance.now() + joinDeadlineMs;
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
    const what = `PostgreSQL (process ${pid}, started by process ${starter}) does not answer on ${cluster.pgdata}`;
    throw new EmbeddedPostgresError(what, lastLines(cluster.logFile), problem);
  }
  await stopPostmaster(pid, null, 0);
  return null;
}

/**
 * The running process that will stop the server: its starter, or the process that has taken it over since, which the
 * file names. Null: the server is an orphan, and a process that joins it stops it.
 */
function findStarter({ startedBy }: RunningPostmaster, cluster: Cluster): number | null {
  if (startedBy !== null && isAlive(startedBy)) return startedBy;
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
