/** `POST /event-subscriptions/{id}/replay`: the same events again, with the same ids. */
import { expect, it } from 'vitest';
import { eventOf, withReceiver } from './world.ts';

const world = await withReceiver();

it('sends again from an event on, and from a time on', async () => {
  const began = new Date().toISOString();
  const { subscription_id: id } = await world.create(world.rpKey);
  const told = [await world.deny(world.rpKey), await world.deny(world.rpKey)].map(eventOf);
  await world.deliver();
  world.received.splice(0);
  const replay = (body: object) => world.act(world.rpKey, id, 'replay', body);
  expect((await replay({ event_id: told[1] })).status).toBe(202);
  await world.deliver();
  expect(world.received.splice(0).map((one) => one.id)).toEqual([told[1]]);
  await replay({ since: began });
  await world.deliver();
  expect(world.received.map((one) => one.id).sort()).toEqual(told.sort());
  expect((await replay({ event_id: `evt_${'0'.repeat(32)}` })).status).toBe(404);
  for (const body of [{}, { since: began, event_id: told[0] }]) expect((await replay(body)).status).toBe(400);
});
