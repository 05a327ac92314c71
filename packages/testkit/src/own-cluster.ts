// A PostgreSQL for one suite, for tests that a shared server does not survive: SIGKILL, SIGSTOP, a restart.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { inject } from 'vitest';
import { prepareStandby } from './base-backup.ts';
import { copyCluster, makeClusterFolder } from './cluster-folder.ts';
import { databaseUrl } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with a stopped cluster; projects with a database get it from the global setup. */
    ownClusterTemplate: string;
  }
}

export interface OwnCluster {
  /** A migrated database. The same after every restart. */
  readonly url: string;
  /** A superuser's URL on the server's `postgres` database. */
  readonly adminUrl: string;
  readonly port: number;
  /** Actual data folder: `cluster/pgdata` in it is the server's. */
  readonly dataDir: string;
  /** The postmaster's process id, which changes with a restart. */
  readonly pid: number;
  /** Sends a signal to the postmaster and then to each of its processes. SIGSTOP and SIGCONT: Linux and macOS. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
  /** Starts the server again on the same data and port; ends it first where it still runs. */
  restart(): Promise<void>;
  /** Ends the server in any state, and deletes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a cluster with one migrated database, a copy of the one that the run has created. `durable` (fsync on) is the
 * default. Each copy is a separate server; only the system identifier and the password are the same.
 */
export async function startOwnCluster({
  durable = true,
  env = {},
  parent,
}: {
  readonly durable?: boolean;
  /** The folder, or the disk, for the cluster. Default: that of the run. */
  readonly parent?: string | undefined;
  /** Added to the server's environment. */
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<OwnCluster> {
  const template = inject('ownClusterTemplate');
  const folder = makeClusterFolder(parent ?? dirname(template));
  copyCluster(template, folder);
  return serveCluster(folder, { durable, env });
}

/** A standby of the cluster, which follows it until it is promoted. Its data is beside the primary's. */
export async function startStandby(primary: OwnCluster): Promise<OwnCluster> {
  const folder = makeClusterFolder(dirname(primary.dataDir));
  await prepareStandby(primary, folder);
  return serveCluster(folder, { durable: false });
}

async function serveCluster(
  folder: string,
  { durable, env = {} }: { readonly durable: boolean; readonly env?: Readonly<Record<string, string>> },
): Promise<OwnCluster> {
  let server = await startEmbeddedPostgres({ dataDir: folder, durable, env });
  const { url: adminUrl, port, dataDir } = server;
  const signal = (name: NodeJS.Signals) => {
    for (const pid of [server.pid, ...childrenOf(server.pid)]) trySignal(pid, name);
  };
  const end = async () => {
    signal('SIGCONT');
    await server.stop({ deadlineMs: 0 });
  };
  const stop = async () => {
    await end();
    for (const place of [dataDir, folder]) await removeEmbeddedPostgres(place);
  };
  return {
    url: databaseUrl(adminUrl, 'svc'),
    adminUrl,
    port,
    dataDir,
    get pid() {
      return server.pid;
    },
    signal,
    async restart() {
      await end();
      server = await startEmbeddedPostgres({ dataDir, durable, port, env });
    },
    stop,
  };
}

function trySignal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'ESRCH') throw problem;
  }
}

/** The processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return childrenByPgrep(pid);
  const numbers = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return numbers.filter((candidate) => parentOf(candidate) === pid);
}

function parentOf(pid: number): number | null {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    return Number(afterName.split(' ')[1]);
  } catch {
    return null;
  }
}

function childrenByPgrep(pid: number): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8', timeout: 5_000 });
  return stdout.split('\n').filter(Boolean).map(Number);
}
