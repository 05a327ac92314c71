/** Real API processes for tests: the built program, its own sockets, a shared database and shared keys. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ApiNode, type ApiNodes, nodeEnv } from './api-node.ts';
import { freePorts } from './free-ports.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START_DEADLINE_MS = 20_000;

export interface ApiProcess extends ApiNode {
  readonly pid: number;
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, then waits for the end; the exit code. */
  stop(): Promise<number | null>;
}

export type ApiProcesses = ApiNodes<ApiProcess>;

/** Starts `count` processes that serve the same deployment. */
export const startApiProcesses = async (
  count: number,
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ApiProcesses> => {
  if (!existsSync(PROGRAM)) throw new Error('the API is not built: run `npm run build` first');
  const processes: ApiProcess[] = [];
  const stop = async () => {
    await Promise.all(processes.map((one) => one.stop()));
  };
  try {
    for (let i = 0; i < count; i++) processes.push(await startOne(databaseUrl, env));
  } catch (error) {
    await stop();
    throw error;
  }
  return { processes, stop };
};

const startOne = async (databaseUrl: string, env: Readonly<Record<string, string>>): Promise<ApiProcess> => {
  const [port, adminPort] = await freePorts(2);
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env.PATH ?? '',
      SVC_PORT: String(port),
      SVC_ADMIN_PORT: String(adminPort),
      ...nodeEnv(databaseUrl, env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  await listening(child, log);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    pid: child.pid ?? -1,
    log,
    signal: (name) => void child.kill(name),
    stop: () => stopChild(child),
  };
};

const listening = (child: ChildProcess, log: string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => fail('not listening in time'), START_DEADLINE_MS);
    const fail = (why: string) => {
      clearTimeout(giveUp);
      child.kill('SIGKILL');
      reject(new Error(`the API did not start (${why}):\n${log.join('\n')}`));
    };
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        createInterface({ input: stream }).on('line', (line) => {
          log.push(line);
          if (!line.includes('"listening"')) return;
          clearTimeout(giveUp);
          resolve();
        });
    child.once('exit', (code) => fail(`exit ${code}`));
  });

const stopChild = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(kill);
  return child.exitCode;
};
