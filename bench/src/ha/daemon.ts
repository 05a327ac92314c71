/** Programs of the operating system, as a user that is not root, ended with this process however that ends. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

export interface Daemon {
  readonly pid: number;
  /** Whether it has ended. */
  readonly hasEnded: () => boolean;
  kill(): Promise<void>;
  /** Asks it to end. */
  stop(): void;
}

/** PostgreSQL refuses to be root: Debian's user of that name stands in for it. */
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

/** To its end; throws when that is not a good one. */
export function runAsDatabase(command: readonly string[]): void {
  execFileSync('setpriv', [...asDatabaseUser, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: '/',
  });
}

/** `command` is the program and its parameters; what it says goes to `logFile`. */
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

/** The process and all below it; empty when it is gone. */
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

/** One that has ended meanwhile is passed over. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
