// The server process: started apart from our terminal's signals, awaited through `postmaster.pid`, stopped within a
// bound. PostgreSQL documents that file: line 1 is the process id, line 4 the port, line 8 the status.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, fchownSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { isAlive } from './is-alive.ts';
import { EmbeddedPostgresError, lastLines } from './problem.ts';
import { type ServerUser, spawnAs } from './server-user.ts';

const pollMs = 10;
const commandLookupMs = 5_000;
/** Longer than the 5 s after which a server in immediate shutdown kills its own processes, also stopped ones. */
const immediateStopMs = 8_000;
const killMs = 5_000;

export interface RunningPostmaster {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
  /** The process that started the server, from its command line; null where that cannot be read. */
  readonly startedBy: number | null;
}

/**
 * On the command line, so known from the first moment: a process that joins does not take a fresh server for an orphan.
 */
export const startedBySetting = 'svc.started_by';

/** What `postmaster.pid` says, if the process it names runs and serves this very directory; otherwise null. */
export function findPostmaster(pgdata: string): RunningPostmaster | null {
  let lines: readonly string[];
  try {
    lines = readFileSync(join(pgdata, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
  const command = findCommand(pid);
  // Every server that we start names its directory. Windows does not show command lines.
  const isOurs = command === null ? process.platform === 'win32' : command.includes(`-D ${pgdata} `);
  if (!isOurs) return null;
  const startedBy = Number(command?.match(/ svc\.started_by=(\d+)/)?.[1] ?? Number.NaN);
  return {
    pid,
    port: Number(lines[3] ?? 0),
    isReady: (lines[7] ?? '').trim() === 'ready',
    startedBy: Number.isNaN(startedBy) ? null : startedBy,
  };
}

/**
 * Removes the file of a server that has ended. After a restart of the machine its process id may be another process's.
 */
export async function removeStalePidFile(pgdata: string) {
  if (findPostmaster(pgdata) === null) await rm(join(pgdata, 'postmaster.pid'), { force: true });
}

export interface LaunchRequest {
  readonly binaries: Binaries;
  readonly user: ServerUser | null;
  readonly pgdata: string;
  readonly logFile: string;
  readonly settings: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

/** Starts a server and waits until it accepts connections. Throws with its log when it ends or takes too long. */
export async function launchPostmaster(request: LaunchRequest): Promise<RunningPostmaster> {
  const { binaries, user, pgdata, logFile, settings, env, deadlineMs } = request;
  const own = spawnAs(user);
  const log = openLog(logFile, user);
  const spawning: { problem: Error | null } = { problem: null };
  // A session of its own: Ctrl-C in our terminal reaches only us, and we stop the server when nothing needs it any
  // more.
  const child = spawn(binaries.postgres, ['-D', pgdata, ...settings.flatMap((setting) => ['-c', setting])], {
    ...own,
    env: { ...own.env, ...env },
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log],
  });
  child.once('error', (problem) => {
    spawning.problem = problem;
  });
  child.unref();
  closeSync(log);

  const giveUpAt = performance.now() + deadlineMs;
  while (performance.now() < giveUpAt) {
    await delay(pollMs);
    const ended = child.exitCode ?? child.signalCode;
    if (spawning.problem !== null || ended !== null) {
      const how = spawning.problem === null ? `it ended with ${ended}` : spawning.problem.message;
      throw new EmbeddedPostgresError(`PostgreSQL did not start in ${pgdata}: ${how}`, lastLines(logFile));
    }
    const found = findPostmaster(pgdata);
    if (found?.pid === child.pid && found?.isReady) return found;
  }
  child.kill('SIGKILL');
  throw new EmbeddedPostgresError(
    `PostgreSQL was not ready after ${deadlineMs} ms in ${pgdata}`,
    lastLines(logFile),
  );
}

/**
 * Fast shutdown cuts sessions and keeps everything committed. After the deadline comes immediate shutdown, after which
 * the next start recovers from the log; after that SIGKILL. A server that has ended already is no error.
 */
export async function stopPostmaster(
  pid: number,
  binaries: Binaries | null,
  deadlineMs: number,
): Promise<void> {
  const stages = [
    ['SIGINT', deadlineMs],
    ['SIGQUIT', immediateStopMs],
    ['SIGKILL', killMs],
  ] as const;
  for (const [signal, waitMs] of stages) {
    if (!isAlive(pid)) return;
    send(pid, signal, binaries);
    // A server stopped by SIGSTOP acts on no signal before it continues.
    if (process.platform !== 'win32') send(pid, 'SIGCONT', binaries);
    if (await isGoneWithin(pid, waitMs)) return;
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) did not end even when killed`);
}

export async function isGoneWithin(pid: number, waitMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + waitMs;
  while (isAlive(pid)) {
    if (performance.now() >= giveUpAt) return false;
    await delay(pollMs);
  }
  return true;
}

/** On Windows Node ends a process for any signal; `pg_ctl kill` delivers the intended one. */
function send(pid: number, signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' | 'SIGCONT', binaries: Binaries | null) {
  try {
    if (process.platform === 'win32' && binaries !== null && signal !== 'SIGKILL') {
      execFileSync(binaries.pgCtl, ['kill', signal.slice(3), String(pid)], { timeout: commandLookupMs });
    } else process.kill(pid, signal);
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === 'EPERM') {
      throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) belongs to another user`, '', problem);
    }
  }
}

/**
 * Truncated at each start, and opened for appending, since two starters may write to it. The folder belongs to the
 * server's user, so as root no symbolic link in it is followed.
 */
function openLog(logFile: string, user: ServerUser | null): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW } = constants;
  const log = openSync(logFile, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | (O_NOFOLLOW ?? 0), 0o600);
  if (user !== null) fchownSync(log, user.uid, user.gid);
  return log;
}

function findCommand(pid: number): string | null {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { timeout: commandLookupMs }).toString();
  } catch {
    return null;
  }
}
