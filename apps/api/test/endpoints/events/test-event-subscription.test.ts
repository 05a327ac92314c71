/** `POST /event-subscriptions/{id}/test`: a ping, signed as every other event. */
import { expect, it } from 'vitest';
import { withReceiver } from './world.ts';

const world = await withReceiver();

it('sends a ping to that endpoint alone', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  await world.create(world.rpKey);
  const { status, json } = await world.act(world.rpKey, id, 'test');
  expect(status).toBe(202);
  await world.deliver();
  expect(world.received).toMatchObject([
    { id: json.event_id, body: { type: 'ping', subscription_id: id, data: { subscription_id: id } } },
  ]);
});
