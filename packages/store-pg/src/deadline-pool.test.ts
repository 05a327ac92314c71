import { StoreError } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { startHoldingProxy } from '@svc/testkit/store/holding-proxy';
import { endSessions, untilRow, withSession } from '@svc/testkit/store/session';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createOpenings } from './connections.ts';
import { DeadlinePool, type DeadlinePoolOptions } from './deadline-pool.ts';
import { DeadlineError } from './errors.ts';
import { SilentConnections } from './silent-connections.ts';

const database = withDatabase();
let pool: DeadlinePool;

/**
 * One connection, and at most two callers in the queue. Limits that are not under test are long enough for a loaded
 * machine.
 */
const PATIENT: Omit<DeadlinePoolOptions, 'databaseUrl'> = {
  size: 1,
  waitMs: 20_000,
  connectMs: 20_000,
  deadlineMs: 20_000,
  maxWaiting: 2,
  onError: () => {},
};
beforeEach(() => {
  pool = new DeadlinePool({ ...PATIENT, databaseUrl: database.url });
});
afterEach(() => pool.close());

const backendPid = async (client: pg.ClientBase) =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
const forEver = (client: pg.ClientBase) => client.query('select pg_sleep(60)');

it('the pool keeps a connection whose work succeeded or whose statement the server refused', async () => {
  const pid = await pool.run(backendPid);
  await expect(pool.run((client) => client.query('select 1/0'))).rejects.toThrow('division by zero');
  expect(await pool.run(backendPid)).toBe(pid);
});

it('the pool destroys a connection that missed its deadline, and serves the next caller', async () => {
  const silent = new SilentConnections(database.url, 200);
  const own = new DeadlinePool({ ...PATIENT, databaseUrl: database.url, silent });
  onTestFinished(() => own.close());
  const pid = await own.run(backendPid);
  await expect(own.run(forEver, { deadlineMs: 100 })).rejects.toBeInstanceOf(DeadlineError);
  expect(await own.run(backendPid)).not.toBe(pid);
});

it('the pool does not reuse a connection that was left inside a transaction', async () => {
  const pid = await pool.run(async (client) => {
    await client.query('begin');
    return backendPid(client);
  });
  expect(await pool.run(backendPid)).not.toBe(pid);
});

it("the pool does not reuse a connection whose caller failed with an error that is not the server's", async () => {
  const pid = await pool.run(backendPid);
  await expect(pool.run(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  expect(await pool.run(backendPid)).not.toBe(pid);
});

it('a caller that finds the queue full, or waits in it too long, is refused as unavailable', async () => {
  const own = new DeadlinePool({ ...PATIENT, databaseUrl: database.url, waitMs: 100 });
  onTestFinished(() => own.close());
  const busy = own.run(forEver, { deadlineMs: 400 }).catch((error: unknown) => error);
  const waiting = [own.run(backendPid), own.run(backendPid)].map((run) =>
    run.catch((error: unknown) => error),
  );
  await expect(own.run(backendPid)).rejects.toMatchObject({ kind: 'unavailable', message: /too many/ });
  for (const problem of await Promise.all(waiting)) {
    expect(problem).toBeInstanceOf(StoreError);
    expect(problem).toMatchObject({ kind: 'unavailable' });
  }
  expect(await busy).toBeInstanceOf(DeadlineError);
});

it('work that waits for its exclusive key holds no connection', async () => {
  const own = new DeadlinePool({ ...PATIENT, databaseUrl: database.url, size: 2, maxWaiting: 8 });
  onTestFinished(() => own.close());
  const ended: string[] = [];
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const first = own.run(() => held, { exclusiveKey: 'a list' });
  const second = own.run(async () => void ended.push('second'), { exclusiveKey: 'a list' });
  await own.run(async () => void ended.push('other'), { exclusiveKey: 'another' });
  end();
  await Promise.all([first, second]);
  expect(ended).toEqual(['other', 'second']);
});

it('the pool survives the termination of its connections, idle or busy', async () => {
  const idle = await pool.run(backendPid);
  await withSession(database.url, async (killer) => {
    await endSessions(database.url, `select ${idle} as pid`);
    const working = await pool.run(backendPid);
    expect(working).not.toBe(idle);
    // The pool has one connection, so the sleeper is the process just seen.
    const sleeper = pool.run(forEver).catch((error: unknown) => error);
    await untilRow(killer, `select from pg_stat_activity where pid = ${working} and state = 'active'`);
    await endSessions(database.url, `select ${working} as pid`);
    expect(await sleeper).toMatchObject({ code: '57P01' });
  });
  expect(await pool.run(backendPid)).toBeTypeOf('number');
});

it('the pool closes every connection on close(), and reports no error for that', async () => {
  const reported: Error[] = [];
  const onError = (error: Error) => void reported.push(error);
  const own = new DeadlinePool({ ...PATIENT, databaseUrl: database.url, size: 3, onError });
  const ends: number[] = [];
  await Promise.all(
    Array.from({ length: 3 }, () =>
      own.run(async (client) => {
        client.once('end', () => void ends.push(1));
        await client.query('select pg_sleep(0.05)');
      }),
    ),
  );
  await own.close();
  expect(ends).toHaveLength(3);
  expect(reported).toEqual([]);
});

describe('the warm-up of a new session', () => {
  const started = (warmUp: DeadlinePoolOptions['warmUp'], change: Partial<DeadlinePoolOptions> = {}) => {
    const own = new DeadlinePool({
      ...PATIENT,
      databaseUrl: database.url,
      ...change,
      ...(warmUp && { warmUp }),
    });
    onTestFinished(() => own.close());
    return own;
  };
  const preparedIn = async (client: pg.ClientBase) =>
    (await client.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(
      ({ name }) => name,
    );

  it('runs once before the first caller, and leaves behind prepared statements but no settings or locks', async () => {
    const own = started([
      {
        name: 'mine',
        text: `select set_config('svc.warm', $1, false), pg_advisory_xact_lock(99)`,
        values: ['yes'],
      },
    ]);
    await own.run(async (client) => {
      expect(await preparedIn(client)).toEqual(['mine']);
      const { rows } = await client.query(
        `select current_setting('svc.warm', true) as warm, count(*)::int as locks from pg_locks
         where locktype = 'advisory' and pid = pg_backend_pid()`,
      );
      expect(rows[0]).toEqual({ warm: expect.not.stringMatching('yes'), locks: 0 });
    });
  });

  it("may take longer than a caller's deadline", async () => {
    const own = started([{ text: 'select pg_sleep(0.5)', values: [] }], { deadlineMs: 200 });
    expect(await own.run(backendPid)).toBeTypeOf('number');
  });

  it('that waits for a locked table does not keep the session from callers', async () => {
    await withSession(database.url, async (locking) => {
      await locking.query('begin; lock table receipts in access exclusive mode');
      const own = started([{ text: 'select from receipts limit 1', values: [] }], { deadlineMs: 900 });
      expect(await own.run(backendPid)).toBeTypeOf('number');
      await locking.query('rollback');
    });
  });

  it('that the server refuses does not keep the session from callers', async () => {
    const own = started([{ text: 'select 1/0', values: [] }]);
    expect(await own.run(backendPid)).toBeTypeOf('number');
    await expect(own.run((client) => client.query('select 1/0'))).rejects.toThrow('division by zero');
  });
});

it('kept connections are reopened when they are lost, without a caller, and other callers use the remaining ones', async () => {
  const own = new DeadlinePool({
    ...PATIENT,
    databaseUrl: database.url,
    size: 3,
    maxWaiting: 8,
    isKept: true,
  });
  onTestFinished(() => own.close());
  await own.openKept();
  const pids = `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`;
  expect(own.state).toMatchObject({ busy: 0, idle: 3 });
  await endSessions(database.url, `${pids} and pid != pg_backend_pid()`);
  await expect.poll(() => own.state, { timeout: 20_000 }).toMatchObject({ busy: 0, idle: 3 });
  // Only one of three: the two idle ones remain for callers.
  const lost = await own.run(backendPid);
  await endSessions(database.url, `select ${lost} as pid`);
  await expect.poll(() => own.state, { timeout: 20_000 }).toMatchObject({ busy: 0, idle: 3 });
  expect(await own.run(backendPid)).not.toBe(lost);
});

describe('with a server that is slow to accept connections, the pool', () => {
  const startPool = async (change: Partial<DeadlinePoolOptions> = {}) => {
    const proxy = await startHoldingProxy(database.url);
    const own = new DeadlinePool({
      databaseUrl: proxy.url,
      size: 1,
      waitMs: 400,
      connectMs: 100,
      deadlineMs: 5_000,
      maxWaiting: 64,
      onError: () => {},
      ...change,
    });
    onTestFinished(() => own.close());
    return { proxy, own };
  };
  const unavailable = { kind: 'unavailable', message: /^no connection was open within 100 ms$/ };
  /**
   * Retries, since a loaded machine may open a connection later than a caller waits. A pool that is closed meanwhile
   * serves no call.
   */
  const served = async <T>(
    own: DeadlinePool,
    work: (client: pg.ClientBase) => Promise<T>,
    triesLeft = 300,
  ): Promise<T> =>
    own.run(work).catch((error) => {
      expect(error.kind).toBe('unavailable');
      if (triesLeft === 0) throw error;
      return served(own, work, triesLeft - 1);
    });

  it('refuses a caller after its time limit, and gives the connection that was opened for it to the next caller', async () => {
    const { proxy, own } = await startPool();
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    const waiting = served(own, backendPid);
    proxy.admit();
    const pid = await waiting;
    expect(await served(own, backendPid)).toBe(pid);
    expect(proxy.accepted).toBe(1);
  });

  it('reopens kept connections, also after failed attempts of callers took all places', async () => {
    const { proxy, own } = await startPool({ isKept: true, openMs: 300 });
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    // Resolves although the pool has no room for a connection.
    await own.openKept();
    await expect.poll(() => proxy.held, { timeout: 20_000 }).toBe(0);
    proxy.admit();
    await expect.poll(() => own.state, { timeout: 20_000 }).toMatchObject({ busy: 0, idle: 1 });
  });

  it('keeps a connection that opens after its caller gave up', async () => {
    const { proxy, own } = await startPool();
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    proxy.admit();
    await withSession(database.url, (session) =>
      untilRow(
        session,
        "select from pg_stat_activity where datname = current_database() and application_name = 'svc' and state = 'idle'",
      ),
    );
    await served(own, backendPid);
    expect(proxy.accepted).toBe(1);
  });

  it('opens at most two connections at a time, however many callers wait', async () => {
    const { proxy, own } = await startPool({ size: 6 });
    for (const _ of [1, 2]) {
      const runs = await Promise.allSettled(Array.from({ length: 12 }, () => own.run(backendPid)));
      expect(runs.map(({ status }) => status)).toEqual(Array(12).fill('rejected'));
    }
    expect(proxy.accepted).toBe(2);
    proxy.admit();
    const asleep = (client: pg.ClientBase) => client.query('select pg_sleep(0.05)');
    await Promise.all(Array.from({ length: 12 }, () => served(own, asleep)));
    expect(proxy.accepted).toBeLessThanOrEqual(6);
  });

  it('opens at most two connections at a time together with all pools that share its openings', async () => {
    const openings = createOpenings();
    const { proxy, own } = await startPool({ size: 2, openings });
    const other = new DeadlinePool({ ...PATIENT, databaseUrl: proxy.url, size: 2, maxWaiting: 8, openings });
    onTestFinished(() => other.close());
    const patient = [other.run(backendPid), other.run(backendPid)];
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    expect(proxy.accepted).toBe(2);
    proxy.admit();
    await Promise.all(patient);
    // No connection is opened for a caller that has given up.
    expect(proxy.accepted).toBe(2);
    await served(own, backendPid);
  });

  it('gives a caller that waits for a new connection one that becomes free earlier', async () => {
    const { proxy, own } = await startPool({ size: 2, connectMs: 20_000 });
    proxy.admit();
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    let pid: number | undefined;
    const first = own.run(async (client) => {
      pid = await backendPid(client);
      proxy.hold();
      await isOver;
    });
    await expect.poll(() => pid, { timeout: 20_000 }).toBeDefined();
    const second = own.run(backendPid);
    await expect.poll(() => proxy.held, { timeout: 20_000 }).toBe(1);
    end();
    expect(await second).toBe(pid);
    await first;
    // Otherwise closing the pool would wait for the connection that is held.
    proxy.admit();
  });

  it('opens no new connection while an old one answers late, and reuses the old one', async () => {
    const { proxy, own } = await startPool({ waitMs: 20_000, connectMs: 20_000 });
    proxy.admit();
    const pid = await own.run(backendPid);
    proxy.hold();
    const late = own.run((client) => client.query('select pg_sleep(0.3)'), { deadlineMs: 50 });
    await expect(late).rejects.toBeInstanceOf(DeadlineError);
    expect(await own.run(backendPid)).toBe(pid);
  });

  it('gives up a connection attempt in the end, and starts a new one', async () => {
    const { proxy, own } = await startPool({ openMs: 200 });
    await expect(own.run(backendPid)).rejects.toMatchObject(unavailable);
    await expect.poll(() => proxy.held).toBe(0);
    expect(proxy.accepted).toBe(1);
    proxy.admit();
    expect(await served(own, backendPid)).toBeTypeOf('number');
    expect(proxy.accepted).toBeGreaterThan(1);
  });
});
