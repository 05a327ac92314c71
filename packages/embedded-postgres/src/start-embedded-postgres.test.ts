import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { isDeep } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from './is-alive.ts';
import { isGoneWithin } from './postmaster.ts';
import { findServerUser } from './server-user.ts';
import {
  type EmbeddedPostgres,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';

const isRoot = process.getuid?.() === 0;
/** Starts a server in the folder of its first parameter. */
const starter = withSourceProgram({
  folder: import.meta.dirname,
  text: `import { startEmbeddedPostgres } from './start-embedded-postgres.ts';
    const [, , dataDir = '', next] = process.argv;
    const server = await startEmbeddedPostgres({ dataDir, durable: false });
    console.log(server.pid);
    if (next === 'stay') setInterval(() => {}, 1000);
    else process.exit(0);`,
});
const cleanups: (() => Promise<void> | void)[] = [];
const cleanUp = async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
};

/**
 * A cluster that was created and stopped. Creating one takes most of a test's time, so tests about something else copy
 * this one.
 */
let made: EmbeddedPostgres;
beforeAll(async () => {
  made = await startEmbeddedPostgres({ dataDir: join(makeFolder(), 'data'), durable: false });
  await made.stop();
}, 60_000);
afterAll(() => removeEmbeddedPostgres(made.dataDir));
afterEach(cleanUp);

describe('startEmbeddedPostgres', () => {
  it('starts with UTF8, locale C, 300 connections and fsync, keeps data over a restart, and may be stopped twice', async () => {
    const wanted = (fsync: string) => [{ encoding: 'UTF8', lc: 'C', fsync, max: '300', tz: 'UTC' }];
    const sql = `SELECT current_setting('server_encoding') AS encoding, datcollate AS lc, current_setting('fsync') AS fsync,
      current_setting('max_connections') AS max, current_setting('timezone') AS tz
      FROM pg_database WHERE datname = current_database()`;
    const dataDir = copyOfMade();
    const first = await start({ dataDir });
    expect(await query(first.url, sql)).toEqual(wanted('on'));
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await first.stop();
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const second = await start({ dataDir, durable: false });
    expect(second.isReused).toBe(false);
    expect(await query(second.url, sql)).toEqual(wanted('off'));
    expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('requires a password from a file that only the server user can read, and listens only on 127.0.0.1', async () => {
    const server = await start({ dataDir: copyOfMade(), durable: false });
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    const file = join(server.dataDir, 'cluster', 'password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(new URL(server.url).password).toBe(readFileSync(file, 'utf8'));
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    await expect(reach('::1', server.port)).rejects.toThrow();
  });

  it('joins a server that already runs, and leaves stopping it to the process that started it', async () => {
    // In a deep run both want to make the cluster.
    const dataDir = isDeep ? join(folder(), 'data') : copyOfMade();
    const [first, second] = await Promise.all([
      start({ dataDir, durable: false }),
      start({ dataDir, durable: false }),
    ]);
    expect(second.pid).toBe(first.pid);
    expect([first.isReused, second.isReused].sort()).toEqual([false, true]);
    const [owner, guest] = first.isReused ? [second, first] : [first, second];
    await guest.stop();
    expect(await query(owner.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('does not stop a server whose starter is not recorded yet', async () => {
    const dataDir = copyOfMade();
    const owner = await start({ dataDir, durable: false });
    rmSync(join(owner.dataDir, 'cluster', 'starter'));
    const guest = await start({ dataDir, durable: false });
    await guest.stop();
    expect(await query(owner.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('takes over a server whose starter is gone, and stops it', async () => {
    const dataDir = copyOfMade();
    const { child, pid } = await startElsewhere(dataDir, 'stay');
    child.kill('SIGKILL');
    await once(child, 'close');
    const second = await start({ dataDir, durable: false });
    expect(second).toMatchObject({ pid, isReused: true });
    const third = await start({ dataDir, durable: false });
    await third.stop();
    expect(isAlive(pid)).toBe(true);
    await second.stop();
    expect(isAlive(pid)).toBe(false);
  });

  // For clusters of a test's own, replica.test.ts and outage.test.ts of store-pg test this.
  it.runIf(isDeep)('starts again on the same port after the server was killed', async () => {
    const dataDir = copyOfMade();
    const first = await start({ dataDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    process.kill(first.pid, 'SIGKILL');
    expect(await isGoneWithin(first.pid, 5_000)).toBe(true);
    const second = await start({ dataDir, port: first.port });
    expect(second).toMatchObject({ isReused: false, url: first.url });
    expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it.runIf(isDeep)(
    'clears a stale postmaster.pid whose process id belongs to another process now',
    async () => {
      const dataDir = copyOfMade();
      const first = await start({ dataDir, durable: false });
      await first.stop();
      writeFileSync(
        join(first.dataDir, 'cluster', 'pgdata', 'postmaster.pid'),
        `${process.pid}\n/elsewhere\n`,
      );
      const second = await start({ dataDir, durable: false });
      expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
  );

  it.runIf(isDeep)('stops a server that is held by SIGSTOP and has a busy session', async () => {
    const server = await start({ dataDir: copyOfMade(), durable: false });
    const session = new Client({ connectionString: server.url });
    session.on('error', () => undefined);
    await session.connect();
    const busy = expect(session.query('SELECT pg_sleep(600)')).rejects.toThrow(/terminat/);
    process.kill(server.pid, 'SIGSTOP');
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await busy;
  });

  it('reports a port in use, with the log, and a cluster of another version', async () => {
    const server = await start({ dataDir: copyOfMade(), durable: false });
    await expect(start({ dataDir: copyOfMade(), durable: false, port: server.port })).rejects.toThrow(
      /did not start.*\n(.*\n)*.*Address already in use/,
    );
    await server.stop();
    writeFileSync(join(server.dataDir, 'cluster', 'pgdata', 'PG_VERSION'), '9\n');
    await expect(start({ dataDir: server.dataDir })).rejects.toThrow(/made by PostgreSQL 9/);
  });

  it.runIf(isDeep)('removes a half-made cluster whose maker has died', async () => {
    const dataDir = copyOfMade();
    const first = await start({ dataDir, durable: false });
    await first.stop();
    rmSync(join(first.dataDir, 'cluster'), { recursive: true });
    const halfMade = join(first.dataDir, `unfinished-${await deadProcess()}-0`);
    mkdirSync(halfMade);
    await start({ dataDir, durable: false });
    expect(existsSync(halfMade)).toBe(false);
  });

  it('stops the server when the process that started it exits without stopping it', async () => {
    const dataDir = copyOfMade();
    const { pid } = await startElsewhere(dataDir, 'end');
    expect(pid).toBeGreaterThan(0);
    expect(await isGoneWithin(pid, 10_000)).toBe(true);
  });
});

const asRoot = isRoot ? describe : describe.skip;
if (!isRoot) console.warn('not root: the tests of running as another user are skipped');

asRoot('startEmbeddedPostgres, as root', () => {
  // PostgreSQL refuses to start as root, so every test with a database shows that another user runs it.
  it.runIf(isDeep)('runs the server as an ordinary user, as "nobody" if no other is known', async () => {
    expect(findServerUser(['no-such-user', 'nobody'])?.name).toBe('nobody');
    expect(() => findServerUser(['no-such-user'])).toThrow(/no user called no-such-user/);
    const users = ['no-such-user', 'nobody'];
    const server = await start({ dataDir: join(folder(), 'data'), durable: false, users });
    expect(statSync(join(server.dataDir, 'cluster', 'pgdata')).uid).toBe(findServerUser(users)?.uid);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.runIf(isDeep)(
    'puts the cluster where the server user has access, reports the place, and finds it again',
    async () => {
      const hidden = folder();
      chmodSync(hidden, 0o700);
      const dataDir = join(hidden, 'data');
      const first = await start({ dataDir, durable: false });
      expect(first.dataDir).not.toBe(dataDir);
      expect(first.notes.join()).toContain(first.dataDir);
      await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
      await first.stop();
      const second = await start({ dataDir, durable: false });
      expect(second.dataDir).toBe(first.dataDir);
      expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    },
  );

  it('leaves an existing foreign directory unchanged', async () => {
    const dataDir = join(folder(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'precious'), 'mine');
    const server = await start({ dataDir, durable: false });
    expect(server.dataDir).not.toBe(dataDir);
    expect(statSync(dataDir).uid).toBe(0);
  });
});

function folder(): string {
  const path = makeFolder();
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Readable by all users: the server may run as another user. */
function makeFolder(): string {
  const path = mkdtempSync(join(tmpdir(), `svc-test-${process.pid}-`));
  chmodSync(path, 0o755);
  return path;
}

/** The data directory of a stopped cluster, with the original owners and modes. */
function copyOfMade(): string {
  const dataDir = join(folder(), 'data');
  const { status, stderr } = spawnSync('cp', ['-a', made.dataDir, dataDir], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return dataDir;
}

async function start(options: Parameters<typeof startEmbeddedPostgres>[0]): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  cleanups.push(() => removeEmbeddedPostgres(server.dataDir));
  return server;
}

/**
 * Starts a server from a process of its own, which then stays or ends. Answers once the server's process id is known.
 */
async function startElsewhere(dataDir: string, next: 'stay' | 'end') {
  const child = spawn(process.execPath, [starter(), dataDir, next], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanups.push(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, pid: Number(line.toString()) };
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function reach(host: string, port: number) {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** The id of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}
