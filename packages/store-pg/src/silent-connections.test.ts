/**
 * Connections that are lost silently: the caller that first uses one waits for a deadline, and no caller gets another
 * lost one. A server that is slow keeps its connections.
 */
import { withDatabase } from '@svc/testkit';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { startHoldingProxy } from '@svc/testkit/store/holding-proxy';
import { createWorld, denyCommit, hashOf } from '@svc/testkit/store/world';
import type pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createStore } from './create-store.ts';
import { DeadlinePool } from './deadline-pool.ts';
import { DeadlineError } from './errors.ts';
import { SilentConnections } from './silent-connections.ts';

const database = withDatabase();

/** All limits are long, except the one that detects the loss. */
const PATIENT_MS = 20_000;
const MISSED_MS = 200;
/** Number of connections for reads. */
const READS = 6;

/** `atWorkMs`: how long a connection on which the server is at work is kept; default: as in production. */
const startPool = async (atWorkMs?: number) => {
  const proxy = await startHoldingProxy(database.url);
  proxy.admit();
  const pool = new DeadlinePool({
    databaseUrl: proxy.url,
    size: 2,
    waitMs: PATIENT_MS,
    connectMs: PATIENT_MS,
    deadlineMs: PATIENT_MS,
    maxWaiting: 8,
    silent: new SilentConnections(proxy.url, atWorkMs),
    onError: () => {},
  });
  onTestFinished(() => pool.close());
  return { proxy, pool };
};

const backendPid = async (client: pg.ClientBase) =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
/** Work that has begun, and goes on until `end` is called. */
const begin = async (pool: DeadlinePool) => {
  let end = () => {};
  const isOver = new Promise<void>((resolve) => {
    end = resolve;
  });
  let pid: number | undefined;
  const isDone = new Promise<void>((hasBegun) => {
    void pool.run(async (client) => {
      pid = await backendPid(client);
      hasBegun();
      await isOver;
    });
  });
  await isDone;
  return { pid, end };
};
const twoIdle = async (pool: DeadlinePool) => {
  const both = [await begin(pool), await begin(pool)];
  for (const { end } of both) end();
  return both.map(({ pid }) => pid);
};

it('after one call met a lost connection, all pools drop theirs, and every other call succeeds at its first attempt', async () => {
  const proxy = await startHoldingProxy(database.url);
  proxy.admit();
  const deadlines = {
    connectMs: PATIENT_MS,
    patientConnectMs: PATIENT_MS,
    waitMs: PATIENT_MS,
    readMs: PATIENT_MS,
    commitMs: PATIENT_MS,
    transactionMs: PATIENT_MS,
    stampRevokedMs: PATIENT_MS,
  };
  const store = createStore({ databaseUrl: proxy.url, deadlines, opensAhead: true });
  onTestFinished(() => store.close());
  const world = await createWorld(store);
  const artifact = { hash: hashOf('x'), contentType: 'text/plain', body: Buffer.from('x') };
  const commit = () => store.verify.commitDecisions([denyCommit(world)]);
  const transact = (lane: 'urgent' | 'bulk' | 'reports', deadlineMs = PATIENT_MS) =>
    store.transaction((tx) => tx.evidence.insert(artifact), { lane, deadlineMs });
  const stamp = () => store.revocation.stampRevoked(world.principal.did, [], Date.now());
  const others = () => [store.now(), commit(), transact('bulk'), transact('urgent'), stamp()];
  await Promise.all([...others(), transact('reports')]);
  // The pools are opened ahead one after the other; this is the last one.
  const last = () => store.describePools().find(({ pool }) => pool === 'lineage');
  await expect.poll(last, { timeout: PATIENT_MS }).toMatchObject({ busy: 0, idle: 2 });

  proxy.lose();
  expect(proxy.lost).toBeGreaterThan(READS);
  await expect(transact('reports', MISSED_MS)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect.poll(() => proxy.lost, { timeout: PATIENT_MS }).toBe(0);
  await Promise.all(others());
});

it('a caller waits for the check of a doubtful connection, and gets another one', async () => {
  const { proxy, pool } = await startPool();
  const lost = await twoIdle(pool);
  proxy.hold();
  proxy.lose();
  await expect(pool.run(backendPid, { deadlineMs: 100 })).rejects.toBeInstanceOf(DeadlineError);
  const next = pool.run(backendPid);
  await expect.poll(() => proxy.held).toBeGreaterThan(0);
  proxy.admit();
  expect(lost).not.toContain(await next);
});

it('an idle connection that answers is kept, although another one missed its deadline', async () => {
  const { proxy, pool } = await startPool(200);
  const [first, second] = await twoIdle(pool);
  const late = pool.run((client) => client.query('select pg_sleep(60)'), { deadlineMs: 100 });
  await expect(late).rejects.toBeInstanceOf(DeadlineError);
  // The connection of the late call is closed only after the question was answered.
  await expect.poll(() => pool.state, { timeout: PATIENT_MS }).toMatchObject({ busy: 0, idle: 1 });
  expect([first, second]).toContain(await pool.run(backendPid));
  expect(proxy.lost).toBe(0);
});

it('connections to a server that stops answering are kept, and used when it continues', async () => {
  const { proxy, pool } = await startPool();
  const [first, second] = await twoIdle(pool);
  proxy.hold();
  const late = pool.run((client) => client.query('select pg_sleep(1)'), { deadlineMs: 50 });
  await expect(late).rejects.toBeInstanceOf(DeadlineError);
  const pids = (await Promise.all([begin(pool), begin(pool)])).map(({ pid, end }) => {
    end();
    return pid;
  });
  expect(new Set(pids)).toEqual(new Set([first, second]));
});

it.runIf(isDeep)(
  'a server that is repeatedly late is asked over one session, and its connections are reused',
  async () => {
    const { proxy, pool } = await startPool();
    const pids = await twoIdle(pool);
    const before = proxy.accepted;
    for (let i = 0; i < sampled({ quick: 3, deep: 5 }); i++) {
      const late = pool.run((client) => client.query('select pg_sleep(0.6)'), { deadlineMs: 50 });
      await expect(late).rejects.toBeInstanceOf(DeadlineError);
      // The late call is answered after the question about it.
      await expect.poll(() => pool.state, { timeout: PATIENT_MS }).toMatchObject({ busy: 0, idle: 2 });
    }
    expect(proxy.accepted - before).toBeLessThanOrEqual(1);
    for (const { pid, end } of [await begin(pool), await begin(pool)]) {
      expect(pids).toContain(pid);
      end();
    }
  },
);

it.runIf(isDeep)(
  'a server that is slow to open sessions is asked over the first one, and its late connections are reused',
  async () => {
    const { proxy, pool } = await startPool();
    const pids = await twoIdle(pool);
    const before = proxy.accepted;
    proxy.hold();
    const late = pool.run((client) => client.query('select pg_sleep(2.5)'), { deadlineMs: 50 });
    await expect(late).rejects.toBeInstanceOf(DeadlineError);
    // The session for the question was asked for more than once, and for longer than a question may take.
    await expect.poll(() => pool.state, { timeout: PATIENT_MS }).toMatchObject({ busy: 0, idle: 2 });
    expect(proxy.accepted - before).toBe(1);
    for (const { pid, end } of [await begin(pool), await begin(pool)]) {
      expect(pids).toContain(pid);
      end();
    }
  },
);

it('connections lost while the session for questions is open are detected over a new session', async () => {
  const { proxy, pool } = await startPool();
  const pids = await twoIdle(pool);
  const late = pool.run((client) => client.query('select pg_sleep(0.4)'), { deadlineMs: 50 });
  await expect(late).rejects.toBeInstanceOf(DeadlineError);
  await expect.poll(() => pool.state, { timeout: PATIENT_MS }).toMatchObject({ busy: 0, idle: 2 });
  proxy.lose();
  await expect(pool.run(backendPid, { deadlineMs: 100 })).rejects.toBeInstanceOf(DeadlineError);
  await expect.poll(() => proxy.lost, { timeout: PATIENT_MS }).toBe(0);
  expect(pids).not.toContain(await pool.run(backendPid));
});
