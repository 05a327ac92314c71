/** `POST /event-subscriptions/{id}/test`: sends a ping, signed like every other event. */
import { expect, it } from 'vitest';
import { withReceiver } from './world.ts';

const world = await withReceiver();

it('POST …/test sends a ping to the endpoint of this subscription only', async () => {
  const { subscription_id: id } = await world.create(world.rpKey);
  await world.create(world.rpKey);
  const { status, json } = await world.act(world.rpKey, id, 'test');
  expect(status).toBe(202);
  await world.deliver();
  expect(world.received).toMatchObject([
    { id: json.event_id, body: { type: 'ping', subscription_id: id, data: { subscription_id: id } } },
  ]);
});

it('POST …/test allows 30 pings an hour per subscription, also for concurrent calls; deletion removes their events', async () => {
  const { rpKey: key } = await world.deployment.createTenants();
  const { subscription_id: id } = await world.create(key);
  const answers = await Promise.all(Array.from({ length: 36 }, () => world.act(key, id, 'test')));
  const of = (status: number) => answers.filter((answer) => answer.status === status);
  expect(of(202)).toHaveLength(30);
  expect(of(429)).toHaveLength(6);
  expect(of(429)[0]?.json.message).toMatch(
    /^Too many pings: 30 in an hour for each subscription; try again in 3[0-9]{3} s\.$/,
  );
  const anHourLater = `update event_subscriptions set pings_from = pings_from - interval '1 hour' where subscription_id = $1`;
  await world.deployment.sql.query(anHourLater, [id]);
  expect((await world.act(key, id, 'test')).status).toBe(202);
  await world.act(key, id, 'delete');
  const left = `select from event_outbox where audience = $1 union all select from event_log where audience = $1`;
  expect((await world.deployment.sql.query(left, [`subscription ${id}`])).rowCount).toBe(0);
});
