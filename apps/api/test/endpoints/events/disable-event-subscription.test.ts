/** `POST /event-subscriptions/{id}/disable`: nothing more is sent. */
import { expect, it } from 'vitest';
import { withReceiver } from './world.ts';

const world = await withReceiver();

it('A disabled event subscription sends no event; a test ping of it gets 409', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  const { json } = await world.act(world.rpKey, id, 'disable');
  expect(json).toMatchObject({ state: 'disabled', disabled_because: 'owner' });
  expect((await world.act(world.rpKey, id, 'disable')).json).toEqual(json);
  expect((await world.act(world.rpKey, id, 'test')).status).toBe(409);
  await world.deny(world.rpKey);
  await world.deliver();
  expect(world.received).toEqual([]);
});

it('POST …/disable is audited once; repeats do nothing, and a disable after an enable is audited again', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  for (let i = 0; i < 3; i++) expect((await world.act(world.rpKey, id, 'disable')).status).toBe(200);
  expect(await world.auditedOf(id)).toEqual(['subscription.create', 'subscription.disable']);
  await world.act(world.rpKey, id, 'enable');
  await world.act(world.rpKey, id, 'disable');
  expect((await world.auditedOf(id)).slice(2)).toEqual(['subscription.enable', 'subscription.disable']);
});
