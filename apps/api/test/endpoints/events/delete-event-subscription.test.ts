/** `POST /event-subscriptions/{id}/delete`: deletes the caller's own subscription, which cannot be undone. */
import { expect, it } from 'vitest';
import { withReceiver } from './world.ts';

const world = await withReceiver();

it('POST …/delete ends a subscription: no event is sent, and it is no longer listed', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  const { json } = await world.act(world.rpKey, id, 'delete');
  expect(json).toEqual({ subscription_id: id, deleted: true });
  await world.deny(world.rpKey);
  await world.deliver();
  expect(world.received).toEqual([]);
  expect(await world.list(world.rpKey)).toEqual([]);
});

it('Another subject’s subscription is 404 for delete and every other change; org:read gets 403 for its org’s', async () => {
  const orgId = await world.deployment.createOrg();
  const { rpKey: key } = await world.deployment.createTenants({ orgId });
  const { rpKey, principalKey } = await world.deployment.createTenants();
  const orgAdmin = await world.deployment.createKey('org:admin', orgId);
  const orgRead = await world.deployment.createKey('org:read', orgId);
  const { subscription_id: id } = await world.create(key);
  for (const other of [rpKey, principalKey, orgAdmin])
    for (const action of ['test', 'rotate', 'disable', 'enable', 'delete'])
      expect((await world.act(other, id, action)).status).toBe(404);
  const since = new Date().toISOString();
  expect((await world.act(rpKey, id, 'replay', { since })).status).toBe(404);
  const { subscription_id: ofOrg } = await world.create(orgAdmin);
  expect((await world.act(orgRead, ofOrg, 'delete')).status).toBe(403);
  expect(await world.list(key)).toHaveLength(1);
});
