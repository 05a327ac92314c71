/** The worker process and events: what it says where it cannot deliver. */
import { withDatabase } from '@svc/testkit';
import { insertSubscription } from '@svc/testkit/store/events';
import { openStore } from '@svc/testkit/store/open-store';
import { createWorld } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';
import { runOnce } from '../harness.ts';

const database = withDatabase();

it('without SVC_WEBHOOK_KEYS it says that nothing is sent, where somebody has subscribed', async () => {
  const options = { databaseUrl: database.url, hosts: {} };
  const store = openStore(database.url);
  const { relyingParty } = await createWorld(store);
  const says = async () => (await runOnce(options)).filter((line) => line.includes('webhook.no_root')).length;
  expect(await says()).toBe(0);
  await insertSubscription(store, `rp ${relyingParty.did}`, ['decision.deny']);
  expect(await says()).toBe(1);
  await store.close();
});
