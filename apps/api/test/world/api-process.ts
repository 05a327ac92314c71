/** Real API processes for tests: the built program, its own sockets, a shared database and shared keys. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START_DEADLINE_MS = 20_000;

export const ADMIN_TOKEN = 'test-admin-token-0123456789abcdefghij';
export const DOMAIN = 'svc.test';

export interface ApiProcess {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly pid: number;
  /** Every line the process has logged. */
  readonly log: readonly string[];
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, then waits for the end; the exit code. */
  stop(): Promise<number | null>;
}

export interface ApiProcesses {
  readonly processes: readonly ApiProcess[];
  stop(): Promise<void>;
}

/** One for all processes of a test file, as for its database: a kid of the service is never another key. */
let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-api-test-'));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

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
    for (let i = 0; i < count; i++) processes.push(await startOne(databaseUrl, dataDir, env));
  } catch (error) {
    await stop();
    throw error;
  }
  return { processes, stop };
};

const startOne = async (
  databaseUrl: string,
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<ApiProcess> => {
  const port = await freePort();
  const adminPort = await freePort();
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: databaseUrl,
      SVC_ADMIN_TOKEN: ADMIN_TOKEN,
      SVC_BASE_URL: `http://${DOMAIN}`,
      SVC_DATA_DIR: dataDir,
      SVC_DOMAIN: DOMAIN,
      SVC_PORT: String(port),
      SVC_ADMIN_PORT: String(adminPort),
      ...env,
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

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object'
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
