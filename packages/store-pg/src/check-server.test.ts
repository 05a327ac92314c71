import { withDatabase } from '@svc/testkit';
import {
  hasPgBouncer,
  PGBOUNCER,
  type PgBouncer,
  type PoolMode,
  startPgBouncer,
} from '@svc/testkit/store/pgbouncer';
import { runSql } from '@svc/testkit/store/session';
import { afterEach, describe, expect, it } from 'vitest';
import { checkConnections, checkReplica, checkServer } from './check-server.ts';
import { createStore } from './create-store.ts';
import { migrate } from './migrate.ts';
import { readSchema } from './schema/check-schema.ts';
import { claimDatabase } from './service-did.ts';
import { CONNECTIONS_OF_PROCESS } from './store-limits.ts';

const database = withDatabase();

it('a server with fsync off is refused if answers must be durable, and the message says what to set', async () => {
  await checkServer(database.url, { mustBeDurable: false });
  await expect(checkServer(database.url, { mustBeDurable: true })).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('Set fsync = on'),
  });
});

it('a server or a database with too few connections for the processes is refused, with the limit in the message', async () => {
  const [row] = await runSql<{ most: number; reserved: number }>(
    database.url,
    "select current_setting('max_connections')::int as most, current_setting('superuser_reserved_connections')::int as reserved",
  );
  const { most = 0, reserved = 0 } = row ?? {};
  const fits = Math.floor((most - reserved - 10) / CONNECTIONS_OF_PROCESS);
  const check = (processes: number) => checkConnections(database.url, { name: 'the fleet', processes });
  await check(0);
  await check(fits);
  const wanted = (fits + 1) * CONNECTIONS_OF_PROCESS;
  await expect(check(fits + 1)).rejects.toMatchObject({
    kind: 'refused',
    message: `max_connections is ${most}, ${reserved} of them reserved; the fleet may open ${wanted}, and operators want 10: set max_connections = ${wanted + 10 + reserved} or more, and restart PostgreSQL`,
  });
  const { pathname } = new URL(database.url);
  await runSql(database.url, `alter database ${pathname.slice(1)} connection limit 47`);
  await expect(check(1)).rejects.toThrow('limited to 47 connections');
  await runSql(database.url, `alter database ${pathname.slice(1)} connection limit -1`);
});

if (!hasPgBouncer) console.warn(`SKIPPED: a pooler in between, because there is no ${PGBOUNCER}`);

describe.skipIf(!hasPgBouncer)('behind PgBouncer', () => {
  const started: PgBouncer[] = [];
  afterEach(async () => {
    for (const pooler of started.splice(0)) await pooler.stop();
  });
  const startPooler = async (poolMode: PoolMode): Promise<string> => {
    const pooler = await startPgBouncer(database.url, poolMode);
    started.push(pooler);
    return pooler.url;
  };

  it.each(['transaction', 'statement'] as const)(
    'in %s mode the server is refused at start, and the message names pool_mode = session',
    async (mode) => {
      const url = await startPooler(mode);
      await expect(checkServer(url, { mustBeDurable: false })).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('pool_mode = session'),
      });
    },
  );

  it('in transaction mode a replica is refused with the same message', async () => {
    const name = new URL(database.url).pathname.slice(1);
    // To this check, a standby is any server that takes no writes.
    await runSql(database.url, `alter database ${name} set default_transaction_read_only = on`);
    const url = await startPooler('transaction');
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

  it('in session mode the checks, a migration and a store work without further settings', async () => {
    const url = await startPooler('session');
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
