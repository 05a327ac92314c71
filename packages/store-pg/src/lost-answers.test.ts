import type { Store } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { type CuttingProxy, startCuttingProxy } from '@svc/testkit/store/cutting-proxy';
import { startHoldingProxy } from '@svc/testkit/store/holding-proxy';
import { openStore, PATIENT } from '@svc/testkit/store/open-store';
import { createWorld, denyCommit, hashOf, type World } from '@svc/testkit/store/world';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createStore } from './create-store.ts';

/** Long, since the machine may be busy with other tests. */
const PATIENTLY = { timeout: 20_000 };

/** A text that occurs in commits and in the look-ups of them. */
const RECEIPT_ID = 'drc_';

const database = withDatabase();
let proxy: CuttingProxy;
let store: Store;
let world: World;

beforeAll(async () => {
  proxy = await startCuttingProxy(database.url, RECEIPT_ID);
  store = openStore(proxy.url);
  world = await createWorld(store);
});
afterAll(async () => {
  await store.close();
  await proxy.close();
});

it.each([
  { cut: 'before', stored: false },
  { cut: 'after', stored: true },
] as const)(
  'a commit whose connection is cut $cut it reaches the server is ambiguous, and its look-up answers stored: $stored',
  async ({ cut, stored }) => {
    const decision = denyCommit(world);
    proxy.setMode(`cut-${cut}`);
    await expect(store.verify.commitDecisions([decision])).rejects.toMatchObject({ kind: 'ambiguous' });
    expect((await store.verify.findStored([decision.receiptId])).has(decision.receiptId)).toBe(stored);
    expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
  },
);

it('the look-up of a commit uses open sessions, also while the server opens no new ones', async () => {
  const held = await startHoldingProxy(database.url);
  held.admit();
  const own = createStore({ databaseUrl: held.url, deadlines: PATIENT, opensAhead: true });
  onTestFinished(() => own.close());
  const decision = denyCommit(await createWorld(own));
  await own.verify.commitDecisions([decision]);
  const lookups = () => own.describePools().find(({ pool }) => pool === 'lookups');
  await expect.poll(lookups, PATIENTLY).toMatchObject({ busy: 0, idle: 2 });
  held.hold();
  expect(await own.verify.findStored([decision.receiptId])).toEqual(new Set([decision.receiptId]));
});

it('a revocation and a look-up do not queue for a session behind decisions, lists or reports', async () => {
  const held = await startHoldingProxy(database.url);
  const own = createStore({ databaseUrl: held.url, deadlines: PATIENT });
  onTestFinished(() => own.close());
  const decision = denyCommit(world);
  const soon = [
    own.now(),
    own.verify.commitDecisions([decision]),
    own.now(),
    own.verify.commitDecisions([denyCommit(world)]),
  ];
  await expect.poll(() => held.held, PATIENTLY).toBe(2);
  const artifact = { hash: hashOf('x'), contentType: 'text/plain', body: Buffer.from('x') };
  const urgent = own.transaction((tx) => tx.evidence.insert(artifact), { lane: 'urgent' });
  await expect.poll(() => held.held, PATIENTLY).toBe(3);
  const lookup = own.verify.findStored([decision.receiptId]);
  await expect.poll(() => held.held, PATIENTLY).toBe(4);
  held.admit();
  await Promise.all([...soon, urgent, lookup]);
});
