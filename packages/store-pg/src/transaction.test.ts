import { StoreError, type TransactionOptions } from '@svc/service';
import { PATIENT, withStores } from '@svc/testkit/store/open-store';
import { endSessions, untilRow, untilWaiting, withSession } from '@svc/testkit/store/session';
import { hashOf, insertPrincipal, newAuditId } from '@svc/testkit/store/world';
import { expect, it, onTestFinished } from 'vitest';
import { createStore } from './create-store.ts';

const stores = withStores();

const artifact = (text: string) => ({
  hash: hashOf(text),
  contentType: 'text/plain',
  body: Buffer.from(text),
});
const brokenArtifact = { ...artifact('one'), hash: hashOf('another') };
const isStored = async (text: string) => (await stores.second.evidence.find(hashOf(text))) !== null;

it('a transaction commits its writes, and resolves with the value of its work', async () => {
  const value = await stores.first.transaction(async (tx) => {
    await tx.evidence.insert(artifact('a'));
    expect(await isStored('a')).toBe(false);
    expect(await tx.evidence.find(hashOf('a'))).not.toBeNull();
    return 7;
  });
  expect(value).toBe(7);
  expect(await isStored('a')).toBe(true);
});

it('a transaction rolls back if its work throws, and rejects with that error', async () => {
  const problem = new Error('mine');
  const transaction = stores.first.transaction(async (tx) => {
    await tx.evidence.insert(artifact('b'));
    throw problem;
  });
  await expect(transaction).rejects.toBe(problem);
  expect(await isStored('b')).toBe(false);
});

it('a transaction whose work swallowed an error rejects as refused', async () => {
  const transaction = stores.first.transaction(async (tx) => {
    await tx.evidence.insert(artifact('c'));
    await tx.evidence.insert(brokenArtifact).catch(() => {});
  });
  await expect(transaction).rejects.toMatchObject({ name: 'StoreError', kind: 'refused' });
  expect(await isStored('c')).toBe(false);
});

it('an existing key is reported as a conflict, inside and outside a transaction', async () => {
  const { did, ...rest } = await insertPrincipal(stores.first);
  const again = { ...rest, did, keys: [], documentHash: null };
  await expect(stores.first.principals.insert(again)).rejects.toMatchObject({ kind: 'conflict' });
  const transaction = stores.first.transaction((tx) => tx.principals.insert(again));
  await expect(transaction).rejects.toMatchObject({ kind: 'conflict' });
});

it('any other refusal by the server is reported as refused', async () => {
  const insert = stores.first.evidence.insert(brokenArtifact);
  await expect(insert).rejects.toBeInstanceOf(StoreError);
  await expect(insert).rejects.toMatchObject({ kind: 'refused' });
});

it('a transaction whose connection ends before COMMIT is unavailable and stores nothing', async () => {
  const target = newAuditId();
  const transaction = stores.first.transaction(async (tx) => {
    await tx.evidence.insert(artifact('d'));
    await tx.audit.insert({
      eventId: target,
      actor: { kind: 'system', did: null, keyId: null },
      action: 'test',
      target,
      requestId: null,
      details: {},
    });
    await endSessions(
      stores.url,
      `select pid from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    );
    await tx.evidence.insert(artifact('e'));
  });
  await expect(transaction).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await isStored('d')).toBe(false);
});

it('the repositories of a transaction cannot be used after it', async () => {
  const evidence = await stores.first.transaction(async (tx) => tx.evidence);
  await expect(evidence.insert(artifact('f'))).rejects.toThrow('the transaction is over');
});

it('deadlineMs of one transaction overrides the usual limit, in the client and on the server', async () => {
  const { did } = await insertPrincipal(stores.first);
  const impatient = createStore({ databaseUrl: stores.url, deadlines: { ...PATIENT, transactionMs: 100 } });
  const lock = (deadlineMs?: number) =>
    impatient.transaction(
      (tx) => tx.principals.findForUpdate(did),
      deadlineMs === undefined ? {} : { deadlineMs },
    );
  try {
    await withSession(stores.url, async (holder) => {
      await holder.query('begin');
      await holder.query('select from principals where did = $1 for update', [did]);
      const patient = lock(20_000);
      await expect(lock()).rejects.toBeInstanceOf(StoreError);
      await expect(lock()).rejects.toBeInstanceOf(StoreError);
      await holder.query('commit');
      expect((await patient)?.did).toBe(did);
    });
  } finally {
    await impatient.close();
  }
});

it('transactions of the usual lanes do not delay one of the urgent lane', async () => {
  const { did } = await insertPrincipal(stores.first);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select from principals where did = $1 for update', [did]);
    // More than the connections of either lane; each waits for the lock.
    const waiting = [{}, { lane: 'reports' }].flatMap((options) =>
      Array.from({ length: 8 }, () =>
        stores.first.transaction((tx) => tx.principals.findForUpdate(did), options as TransactionOptions),
      ),
    );
    const settled = Promise.allSettled(waiting);
    await untilWaiting(holder, 4);
    await stores.first.transaction((tx) => tx.evidence.insert(artifact('urgent')), { lane: 'urgent' });
    expect(await isStored('urgent')).toBe(true);
    const [first] = await Promise.race([settled, Promise.resolve([])]);
    expect(first).toBeUndefined();
    await holder.query('commit');
    await settled;
  });
});

it('a transaction that misses its deadline is unavailable, and never stores anything', async () => {
  let written = 0;
  // On a slow machine the first try may write nothing.
  for (let transactionMs = 200; written === 0; transactionMs *= 2) {
    const store = createStore({ databaseUrl: stores.url, deadlines: { ...PATIENT, transactionMs } });
    onTestFinished(() => store.close());
    let isOver = false;
    // Writes all the time, since the server would end a session that is idle inside its transaction.
    const transaction = store.transaction(async (tx) => {
      for (; !isOver; written++) await tx.evidence.insert(artifact(`late ${written}`));
    });
    await expect(transaction).rejects.toMatchObject({ kind: 'unavailable' });
    // Immediately, while its connection is still open.
    isOver = true;
  }
  await withSession(stores.url, (session) =>
    untilRow(
      session,
      `select where not exists (
         select from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle')`,
    ),
  );
  expect(await isStored('late 0')).toBe(false);
});
