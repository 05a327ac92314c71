/** `POST /event-subscriptions/{id}/rotate`: two secrets are in force for a day. */
import { expect, it } from 'vitest';
import { withReceiver } from './world.ts';

const world = await withReceiver();

it('After a rotation events are signed with the new secret and the one before, which ends in 24 h; older ones are dropped', async () => {
  const { subscription_id: id, secret } = await world.create(world.rpKey);
  const { json: rotated } = await world.act(world.rpKey, id, 'rotate');
  expect(rotated.secret).not.toBe(secret);
  const lastsMs = Date.parse(String(rotated.previous_ends_at)) - Date.now();
  expect(Math.round(lastsMs / 3_600_000)).toBe(24);
  await world.act(world.rpKey, id, 'rotate');
  const [subscription] = await world.list(world.rpKey);
  expect(subscription?.secrets).toEqual([
    { number: 3, ends_at: null },
    { number: 2, ends_at: expect.any(String) },
  ]);
  await world.deny(world.rpKey);
  await world.deliver();
  expect(world.received.map(({ signatures }) => signatures)).toEqual([3]);
});
