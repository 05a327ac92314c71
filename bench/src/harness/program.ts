/** A process of the benchmark. Its output goes to a file, which is printed where the process ends too early. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from './cleanup.ts';

const START_MS = 30_000;
const STOP_MS = 15_000;
const POLL_MS = 25;
const SHOWN_LINES = 20;

export interface Program {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Rejects when the process ends by itself; pending for ever once it was asked to end. */
  readonly failure: Promise<never>;
  /** Asks the process to end, and waits until it has. */
  stop(): Promise<void>;
}

export interface ProgramRequest {
  readonly name: string;
  /** The script and its parameters. */
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export function startProgram(request: ProgramRequest, cleanup: Cleanup): Program {
  const log = openSync(request.logFile, 'a', 0o600);
  const child = spawn(process.execPath, request.command, {
    env: { ...inheritedEnvironment(), NODE_ENV: 'production', ...request.environment },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  let stopping = false;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (problem) => resolve(problem.message));
    child.once('exit', (code, signal) => resolve(`exit ${code ?? signal}`));
  });
  const failure = ended.then((how) => {
    if (stopping) return new Promise<never>(() => undefined);
    const output = readFileSync(request.logFile, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
    throw new Error(`${request.name} has ended (${how})\n${output}`);
  });
  failure.catch(() => undefined);
  const stop = async () => {
    stopping = true;
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(killer);
  };
  cleanup.add(stop);
  return { pid: child.pid ?? 0, process: child, failure, stop };
}

/** Waits until any HTTP answer comes from the URL, whatever its status. */
export async function waitForHttp(url: string, { failure }: Program): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  const answers = () =>
    fetch(url, { signal: AbortSignal.timeout(START_MS) }).then(
      (response) => response.arrayBuffer().then(() => true),
      () => false,
    );
  while (!(await Promise.race([answers(), failure]))) {
    if (performance.now() > giveUpAt) throw new Error(`${url} does not answer`);
    await delay(POLL_MS);
  }
}

/** The environment without the variables that would configure the API. */
const inheritedEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'DATABASE_URL'),
  );
