import type { Store } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStore } from './create-store.ts';
import { type CuttingProxy, startCuttingProxy } from './testing/cutting-proxy.ts';
import { createWorld, denyCommit, type World } from './testing/world.ts';

const database = withDatabase();
let proxy: CuttingProxy;
let store: Store;
let world: World;

beforeAll(async () => {
  proxy = await startCuttingProxy(database.url);
  store = createStore({ databaseUrl: proxy.url });
  world = await createWorld(store);
});
afterAll(() => store.close());

it.each([
  { cut: 'before', stored: false },
  { cut: 'after', stored: true },
] as const)(
  'a connection cut $cut the commit reaches the server is ambiguous; the look-up says stored: $stored',
  async ({ cut, stored }) => {
    const decision = denyCommit(world);
    proxy.cutNext(cut);
    await expect(store.verify.commitDecisions([decision])).rejects.toMatchObject({ kind: 'ambiguous' });
    expect((await store.verify.findStored([decision.receiptId])).has(decision.receiptId)).toBe(stored);
    expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
  },
);
