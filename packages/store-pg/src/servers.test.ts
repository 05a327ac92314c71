import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Day } from '@svc/service';
import { type OwnCluster, startOwnCluster, withDatabase } from '@svc/testkit';
import { PATIENT } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { clientConfig, StoreClient } from './client.ts';
import { readClockState, repairClock } from './clock-repair.ts';
import { unpackDay } from './cold/unpack-day.ts';
import { createStore } from './create-store.ts';
import { Servers, serversOf } from './servers.ts';

const database = withDatabase();
let readOnly: OwnCluster;

beforeAll(async () => {
  readOnly = await startOwnCluster({ durable: false });
  await runSql(readOnly.adminUrl, `alter database svc set default_transaction_read_only = on`);
}, 60_000);
afterAll(() => readOnly.stop());
afterEach(() => vi.useRealTimers());

const hostOf = (url: string) => new URL(url).host;
/** The test database, listed after servers that do not answer or take no writes. */
const behind = (...hosts: readonly string[]) =>
  database.url.replace(hostOf(database.url), [...hosts, hostOf(database.url)].join(','));

const NOBODY = '127.0.0.1:1';

it('with several servers, connections go to the one that answers, in any position', async () => {
  const store = createStore({ databaseUrl: behind(NOBODY, NOBODY), deadlines: PATIENT });
  try {
    for (let tried = 0; tried < 4; tried++) if (await store.now().catch(() => null)) break;
    const reads = Array.from({ length: 8 }, () => store.now());
    expect((await Promise.all(reads)).every((ms) => ms > 0)).toBe(true);
  } finally {
    await store.close();
  }
});

it.each([
  ['clock', '127.0.0.1:1', readClockState],
  ['clock repair', '127.0.0.1:2', (url: string) => repairClock(url, Date.now())],
])('svc-admin %s uses the server that answers, listed after one that does not', async (_, nobody, ask) => {
  expect(await ask(behind(nobody))).toMatchObject(
    ask === readClockState ? { closedEarly: [] } : { reopenedDays: 0 },
  );
});

it.each([
  ['clock', readClockState],
  ['clock repair', (url: string) => repairClock(url, Date.now())],
  [
    'ledger unpack',
    (databaseUrl: string) =>
      unpackDay({ databaseUrl, day: '2026-01-01' as Day, open: () => ({ receipts: async function* () {} }) }),
  ],
])(
  'svc-admin %s waits exactly 5 s for a server that accepts the connection and does not answer',
  async (_, ask) => {
    let connected = () => {};
    const isConnected = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const silent = createServer(() => connected()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { port } = silent.address() as AddressInfo;
    const asked = expect(ask(`postgres://svc@127.0.0.1:${port}/svc`)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await isConnected;
    await vi.advanceTimersByTimeAsync(5_000);
    await asked;
  },
);

it.each([
  ['', true],
  ['?target_session_attrs=read-write', true],
  ['?target_session_attrs=any', false],
])(
  'of several servers one that takes no writes is skipped, with "%s": %s',
  async (attributes, isPassedBy) => {
    const url = new URL(readOnly.url);
    const servers = `${url.href}${attributes}`.replace(url.host, `${url.host},${url.host}`);
    const client = new StoreClient(clientConfig(servers, 1_000));
    const connected = client.connect().then(
      () => 'connected',
      (error: Error) => error.message,
    );
    expect(await connected).toBe(isPassedBy ? `${url.hostname} takes no writes` : 'connected');
    client.destroy();
  },
);

it('a single server is accepted read-only, unless target_session_attrs asks for writes', async () => {
  const client = new StoreClient(clientConfig(readOnly.url, 1_000));
  await client.connect();
  client.destroy();
  const strict = new StoreClient(clientConfig(`${readOnly.url}?target_session_attrs=primary`, 1_000));
  await expect(strict.connect()).rejects.toThrow('takes no writes');
});

it('a connection string is parsed as libpq does', () => {
  const servers = new Servers(
    'postgres://u:p%40x@one:5432,two/svc?sslmode=require&target_session_attrs=primary',
  );
  expect(servers.current).toBe('postgres://u:p%40x@one:5432/svc?sslmode=require');
  servers.passBy(servers.current);
  expect(servers.current).toBe('postgres://u:p%40x@two/svc?sslmode=require');
  servers.passBy('postgres://u:p%40x@one:5432/svc?sslmode=require');
  expect(servers.current).toContain('@two/');
  servers.passBy(servers.current);
  expect(servers.current).toContain('@one:5432/');
  const second = new Servers('postgres://u:p@x@one:5432,two/svc');
  expect(second.current).toBe('postgres://u:p@x@one:5432/svc');
  expect(second.count).toBe(2);
  expect(() => new Servers('postgres://one,two/svc?target_session_attrs=standby')).toThrow(
    'must be read-write',
  );
});

it('a replica must not take writes, and accepts only target_session_attrs for standbys', async () => {
  for (const attributes of ['', '?target_session_attrs=standby', '?target_session_attrs=any']) {
    const url = `${database.url}${attributes}`;
    serversOf(url, 'replica');
    const client = new StoreClient(clientConfig(url, 1_000));
    await expect(client.connect()).rejects.toThrow('takes writes: it is no standby');
  }
  const several = `${behind(hostOf(readOnly.url))}?target_session_attrs=prefer-standby`;
  expect(serversOf(several, 'replica').mustTakeWrites).toBe(false);
  expect(() => new Servers('postgres://one,two/svc?target_session_attrs=primary', 'replica')).toThrow(
    "in the replica's address: it must be standby, read-only, prefer-standby or any",
  );
});
