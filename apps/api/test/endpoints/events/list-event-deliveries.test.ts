/** `GET /event-subscriptions/{id}/deliveries`: the answers of the endpoint, newest first, in pages. */
import { expect, it } from 'vitest';
import { eventOf, withReceiver } from './world.ts';

const world = await withReceiver();

it('GET …/deliveries shows the endpoint’s answers newest first, in pages; another subject gets 404', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  const told = [await world.deny(world.rpKey), await world.deny(world.rpKey)].map(eventOf).reverse();
  await world.deliver();
  const deliveries = await world.deliveriesOf(world.rpKey, id);
  expect(deliveries).toMatchObject(
    told.map((event_id) => ({
      event_id,
      type: 'decision.deny',
      state: 'delivered',
      attempts: 1,
      last_status: 204,
    })),
  );
  const path = `/event-subscriptions/${id}/deliveries?limit=1`;
  const { json: first } = await world.call('GET', path, world.rpKey);
  const { json: second } = await world.call('GET', `${path}&cursor=${first.next_cursor}`, world.rpKey);
  expect([first.deliveries, second.deliveries].flat()).toEqual(deliveries);
  expect(second.next_cursor).toBeNull();
  const { rpKey: other } = await world.deployment.createTenants();
  expect((await world.call('GET', path, other)).status).toBe(404);
});
