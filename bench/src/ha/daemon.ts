/** Starts programs of the operating system as a user that is not root. They end with this process, however it ends. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

export interface Daemon {
  readonly pid: number;
  /** Whether the program has ended. */
  readonly hasEnded: () => boolean;
  kill(): Promise<void>;
  /** Asks the program to end. */
  stop(): void;
}

/** PostgreSQL refuses to run as root; Debian's user `postgres` is used instead. */
const isRoot = process.getuid?.() === 0;
export const databaseUser = isRoot
  ? { uid: idOf('-u'), gid: idOf('-g') }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

function idOf(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }));
}

const asDatabaseUser = isRoot
  ? [`--reuid=${databaseUser.uid}`, `--regid=${databaseUser.gid}`, '--clear-groups']
  : [];

/** Runs a command to its end; throws where it fails. */
export function runAsDatabase(command: readonly string[]): void {
  execFileSync('setpriv', [...asDatabaseUser, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: '/',
  });
}

/** `command` is the program and its parameters; its output goes to `logFile`. */
export function startDaemon(
  command: readonly string[],
  { logFile, environment = {} }: { logFile: string; environment?: Readonly<Record<string, string>> },
): Daemon {
  const log = openSync(logFile, 'a', 0o644);
  const child: ChildProcess = spawn('setpriv', [...asDatabaseUser, '--pdeathsig', 'TERM', ...command], {
    env: { PATH: process.env.PATH ?? '/usr/bin', LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    stop() {
      child.kill('SIGINT');
    },
  };
}

/** The process and all its descendants; empty where it has ended. */
export function treeOf(pid: number): number[] {
  try {
    const below = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...below.flatMap(treeOf)];
  } catch {
    return [];
  }
}

/** Signals the processes; skips those that have ended meanwhile. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
