/** `POST /event-subscriptions/{id}/enable`: delivery continues where it was disabled. */
import { expect, it } from 'vitest';
import { eventOf, withReceiver } from './world.ts';

const world = await withReceiver();

it('An event subscription that is enabled again sends the events from the time while it was disabled', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  await world.act(world.rpKey, id, 'disable');
  const receipt = await world.deny(world.rpKey);
  const { json } = await world.act(world.rpKey, id, 'enable');
  expect(json).toMatchObject({ state: 'active', disabled_at: null });
  await world.deliver();
  expect(world.received.map((one) => one.id)).toEqual([eventOf(receipt)]);
});

it('POST …/enable of an active subscription changes nothing and is not audited', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  for (let i = 0; i < 3; i++) expect((await world.act(world.rpKey, id, 'enable')).status).toBe(200);
  expect(await world.auditedOf(id)).toEqual(['subscription.create']);
});
