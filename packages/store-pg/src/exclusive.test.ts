/** Work for one node at a time, and how a node detects that it has lost the lock. */
import { setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '@svc/service';
import { startHoldingProxy } from '@svc/testkit/store/holding-proxy';
import { withStores } from '@svc/testkit/store/open-store';
import { endSessions, runSql } from '@svc/testkit/store/session';
import { startTcpProxy } from '@svc/testkit/store/tcp-proxy';
import { expect, it } from 'vitest';
import { createStore } from './create-store.ts';
import { runExclusive } from './exclusive.ts';

const stores = withStores();

const lockHolders = `select pid from pg_locks where locktype = 'advisory' and classid = 6
  and database = (select oid from pg_database where datname = current_database())`;

it('while one node holds an exclusive key another node gets held: false, and may run afterwards', async () => {
  const outcome = await stores.first.exclusive('a', async () => {
    expect(await stores.second.exclusive('a', async () => 'second')).toEqual({ held: false });
    expect(await stores.second.exclusive('b', async () => 'other work')).toEqual({
      held: true,
      value: 'other work',
    });
    return 'first';
  });
  expect(outcome).toEqual({ held: true, value: 'first' });
  expect(await stores.second.exclusive('a', async () => 'second')).toEqual({ held: true, value: 'second' });
});

it('work that fails releases the lock', async () => {
  const failing = stores.first.exclusive('a', () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await runSql(stores.url, lockHolders)).toEqual([]);
});

it('work is told through its signal when the connection that holds the lock breaks', async () => {
  const outcome = await stores.first.exclusive('a', async (lost) => {
    expect(lost.aborted).toBe(false);
    const aborted = new Promise((resolve) => lost.addEventListener('abort', resolve));
    expect(await endSessions(stores.url, lockHolders)).toBe(1);
    await aborted;
    return stores.second.exclusive('a', async () => 'taken over');
  });
  expect(outcome).toEqual({ held: true, value: { held: true, value: 'taken over' } });
});

it('a node that stands still loses the lock to the next node, although its kernel keeps the connection', async () => {
  const proxy = await startHoldingProxy(stores.url);
  proxy.admit();
  const limits = { connectMs: 20_000, readMs: 20_000, idleMs: 500 };
  const outcome = await runExclusive(proxy.url, limits, 'a', async (lost) => {
    const aborted = new Promise((resolve) => lost.addEventListener('abort', resolve));
    proxy.lose();
    await aborted;
    return stores.second.exclusive('a', async () => 'taken over');
  });
  expect(outcome).toEqual({ held: true, value: { held: true, value: 'taken over' } });
});

it('without a database the work does not begin', async () => {
  const away = createStore({ databaseUrl: 'postgres://svc@127.0.0.1:1/none' });
  let begun = false;
  const asked = away.exclusive('a', async () => {
    begun = true;
  });
  await expect(asked).rejects.toThrow(StoreError);
  expect(begun).toBe(false);
  await away.close();
});

it('exclusive work waits longer for a slow server than connectMs, and a closed store opens at most one more connection', async () => {
  let accepted = 0;
  const slow = await startTcpProxy(stores.url, {
    admit() {
      accepted++;
      return pause(600);
    },
  });
  const deadlines = { connectMs: 300, patientConnectMs: 20_000, transactionMs: 20_000 };
  const store = createStore({ databaseUrl: slow.url, deadlines });
  expect(await store.exclusive('a', async () => 'done')).toEqual({ held: true, value: 'done' });
  const before = accepted;
  await store.close();
  expect(accepted).toBeLessThanOrEqual(before + 1);
  await slow.close();
});
