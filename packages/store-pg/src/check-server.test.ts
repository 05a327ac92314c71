import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '@svc/testkit';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { runSql } from '@svc/testkit/store/session';
import { afterEach, describe, expect, it } from 'vitest';
import { checkReplica, checkServer } from './check-server.ts';
import { createStore } from './create-store.ts';
import { migrate } from './migrate.ts';
import { readSchema } from './schema/check-schema.ts';
import { claimDatabase } from './service-did.ts';

const database = withDatabase();

it('a server that writes nothing through is refused where answers must last, with what to set', async () => {
  await checkServer(database.url, { mustBeDurable: false });
  await expect(checkServer(database.url, { mustBeDurable: true })).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('Set fsync = on'),
  });
});

const PGBOUNCER = '/usr/sbin/pgbouncer';
const hasPgBouncer = existsSync(PGBOUNCER);
if (!hasPgBouncer) console.warn(`SKIPPED: a pooler in between, because there is no ${PGBOUNCER}`);

describe.skipIf(!hasPgBouncer)('behind PgBouncer', () => {
  const started: { child: ChildProcess; folder: string }[] = [];
  afterEach(async () => {
    for (const { child, folder } of started.splice(0)) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      child.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true });
    }
  });

  const startPgBouncer = async (poolMode: string): Promise<string> => {
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const [ownPort = 0] = await findFreePorts(1);
    const folder = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'));
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(join(folder, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`);
    writeFileSync(
      file,
      `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users')}
pool_mode = ${poolMode}
`,
    );
    // It refuses to run as root.
    const isRoot = process.getuid?.() === 0;
    for (const path of [folder, file, join(folder, 'users')])
      chmodSync(path, path === folder ? 0o755 : 0o644);
    const child = spawn(PGBOUNCER, [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
    started.push({ child, folder });
    const url = `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`;
    for (;;) {
      const isUp = await runSql(url, 'select 1').then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED',
      );
      if (isUp) return url;
    }
  };

  it.each(['transaction', 'statement'])(
    'in %s mode it is refused at start, in a sentence that says why',
    async (mode) => {
      const url = await startPgBouncer(mode);
      await expect(checkServer(url, { mustBeDurable: false })).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('pool_mode = session'),
      });
    },
  );

  it('a replica is refused alike', async () => {
    const name = new URL(database.url).pathname.slice(1);
    // As far as this look goes a standby is a server that takes no writes.
    await runSql(database.url, `alter database ${name} set default_transaction_read_only = on`);
    const url = await startPgBouncer('transaction');
    try {
      await expect(checkReplica(url)).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('pool_mode = session'),
      });
    } finally {
      const writable = `${database.url}?options=-c%20default_transaction_read_only%3Doff`;
      await runSql(writable, `alter database ${name} reset default_transaction_read_only`);
    }
  });

  it('in session mode all works, with nothing set for it', async () => {
    const url = await startPgBouncer('session');
    await checkServer(url, { mustBeDurable: false });
    expect(await migrate(url)).toEqual([]);
    await claimDatabase(url, { did: 'did:web:svc.example', mayPin: true });
    expect(await readSchema(url)).toMatchObject({ state: 'migrated', faults: [] });
    const store = createStore({ databaseUrl: url, deadlines: { connectMs: 10_000, readMs: 5_000 } });
    try {
      expect(await store.now()).toBeGreaterThan(0);
      expect(await store.describeHealth()).toBe('ok');
    } finally {
      await store.close();
    }
  });
});
