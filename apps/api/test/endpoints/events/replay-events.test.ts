/** `POST /event-subscriptions/{id}/replay`: the same events again, with the same ids. */
import { expect, it } from 'vitest';
import { eventOf, withReceiver } from './world.ts';

const world = await withReceiver();

it('POST …/replay sends past events again, from an event or a time on; an unknown event gets 404, neither or both 400', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  const denied = [await world.deny(world.rpKey), await world.deny(world.rpKey)];
  const told = denied.map(eventOf);
  const began = String(denied[0]?.evaluated_at);
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

it('POST …/replay allows 10 an hour per subscription, also for concurrent calls; one of an unknown event is not counted', async () => {
  const { rpKey: key } = await world.deployment.createTenants();
  const { subscription_id: id } = await world.create(key);
  await world.deny(key);
  await world.deliver();
  await world.act(key, id, 'replay', { event_id: `evt_${'0'.repeat(32)}` });
  const since = new Date(0).toISOString();
  const answers = await Promise.all(
    Array.from({ length: 13 }, () => world.act(key, id, 'replay', { since })),
  );
  const of = (status: number) => answers.filter((answer) => answer.status === status);
  expect(of(202)).toHaveLength(10);
  expect(of(429)).toHaveLength(3);
  expect(of(429)[0]?.json.message).toMatch(
    /^Too many replays: 10 in an hour for each subscription; try again in 3[0-9]{3} s\.$/,
  );
});
