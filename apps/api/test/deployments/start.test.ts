/** `npm start`: the embedded database, one instance for each data folder, an orderly end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { isDeep } from '@svc/testkit/sampled';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeIdleConnections } from '../world/tenants.ts';

const PROGRAM = programFile('apps/api', 'start.js');
const READY = 'Ctrl-C stops everything';
const DEADLINE_MS = 60_000;

interface Instance {
  readonly child: ChildProcess;
  /** Resolves when the report is printed, or when the process has ended before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<number | null>;
  output(): string;
  errors(): string;
}

let folder: string;
let dataDir: string;
let ports: Readonly<Record<string, string>>;
const children: ChildProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-start-'));
  // Where root runs the test, the database runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  dataDir = join(folder, 'data');
});
afterAll(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  rmSync(folder, { recursive: true, force: true });
});
// The port is part of every DID, so all tests use one pair.
beforeAll(async () => {
  ports = await freePorts();
});

const start = (env: Readonly<Record<string, string>> = {}): Instance => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH: process.env.PATH ?? '', SVC_DATA_DIR: dataDir, ...ports, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  let errors = '';
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const printed = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk;
      if (output.includes(READY)) resolve();
    });
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const ready = Promise.race([printed, ended.then(() => undefined)]);
  return { child, ready, ended, output: () => output, errors: () => errors };
};

const freePorts = async () => {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  return { SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort) };
};

describe('npm start', { timeout: DEADLINE_MS }, () => {
  let first: Instance;
  beforeEach(async () => {
    first = start();
    await first.ready;
    expect([first.errors(), first.output().includes(READY)]).toEqual(['', true]);
  }, DEADLINE_MS);

  it('stores all its files in SVC_DATA_DIR, is ready with a worker, and ends without errors on SIGINT', async () => {
    // The first round of the job that packs creates the folder of cold days.
    expect(
      readdirSync(dataDir)
        .filter((name) => name !== 'cold')
        .sort(),
    ).toEqual([
      'admin-token',
      'database-url',
      'demonstration',
      'instance.pid',
      'log.jsonl',
      'postgres',
      'receipt-keys.json',
      'sandbox-keys.json',
      'status-keys.json',
      'webhook-key',
    ]);
    // A restore finds it in this file, not in the output for a reader.
    expect(readFileSync(join(dataDir, 'log.jsonl'), 'utf8')).toContain('"msg":"revocation"');
    expect(first.output()).not.toContain('"msg":"revocation"');
    const urlFile = join(dataDir, 'database-url');
    if (process.platform !== 'win32') {
      expect(statSync(dataDir).mode & 0o007).toBe(0o001);
      expect(statSync(urlFile).mode & 0o777).toBe(0o600);
    }
    const database = new pg.Client({ connectionString: readFileSync(urlFile, 'utf8').trim() });
    await database.connect();
    expect((await database.query('select from principals')).rowCount).toBeGreaterThan(0);
    await database.end();

    // It contains the worker, so its metrics include days that could not be packed.
    const adminUrl = `http://127.0.0.1:${ports.SVC_ADMIN_PORT}`;
    const ready = await fetch(`${adminUrl}/readyz`);
    expect(await ready.json()).toMatchObject({ checks: { content: 'ok', cold: 'ok' } });
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toMatch(/^svc_cold_broken_days 0$/m);

    // In a sample process/instance-lock.test.ts and port-faults.test.ts test this without the whole program.
    if (isDeep) {
      const second = start(await freePorts());
      expect(await second.ended).toBe(1);
      expect(second.errors()).toContain(
        `another instance (process ${first.child.pid}) uses SVC_DATA_DIR ${dataDir}`,
      );
      const third = start({ SVC_DATA_DIR: join(folder, 'other') });
      expect(await third.ended).toBe(1);
      expect(third.errors()).toMatch(/SVC_PORT: port \d+ is taken[\s\S]*SVC_ADMIN_PORT: port \d+ is taken/);
    }

    closeIdleConnections();
    // One Ctrl-C arrives through npm as two signals.
    first.child.kill('SIGINT');
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(first.errors()).toBe('');
    expect(first.output().endsWith('\nstopped\n')).toBe(true);
    for (const name of ['instance.pid', 'database-url']) expect(readdirSync(dataDir)).not.toContain(name);
  });

  it.runIf(isDeep)(
    'stops its database on SIGHUP, and does not start with other Receipt keys on the same database',
    async () => {
      first.child.stdout?.destroy();
      first.child.kill('SIGHUP');
      expect(await first.ended).toBe(0);
      const pidFile = join(dataDir, 'postgres', 'cluster', 'pgdata', 'postmaster.pid');
      expect(existsSync(pidFile)).toBe(false);

      rmSync(join(dataDir, 'receipt-keys.json'));
      const next = start();
      expect(await next.ended).toBe(1);
      expect(next.errors()).toMatch(
        /a kid is never used again:\n {2}did:web:localhost%3A\d+#receipt-1 was x /,
      );
      expect(existsSync(pidFile)).toBe(false);
    },
  );
});
