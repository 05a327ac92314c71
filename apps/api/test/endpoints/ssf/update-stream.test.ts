/** `PATCH /ssf/streams`. */
import { untilWaiting, withSession } from '@svc/testkit/store/session';
import { expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, withStreams } from './world.ts';

const world = withStreams();

it('PATCH /ssf/streams changes the given members and leaves the others', async () => {
  const { stream_id, ...stream } = await world.create({
    ...{ events_requested: [CREDENTIAL_CHANGE], description: 'One' },
  });
  const patch = async (body: object) =>
    (await world.call('PATCH', '/ssf/streams', { stream_id, ...body })).json;
  expect(await patch({ description: 'Two' })).toEqual({ stream_id, ...stream, description: 'Two' });
  const requested = [world.uriOf('decision.deny'), 'urn:example:unknown'];
  const changed = {
    events_requested: requested,
    events_delivered: requested.slice(0, 1),
    description: 'Two',
  };
  expect(await patch({ events_requested: requested })).toEqual({ stream_id, ...stream, ...changed });
});

it('PATCH /ssf/streams accepts unchanged read-only members in any order and refuses different ones with 400', async () => {
  const stream = await world.create({ events_requested: [CREDENTIAL_CHANGE] });
  const patch = (body: object) => world.call('PATCH', '/ssf/streams', { ...stream, ...body });
  const reversed = [...stream.events_supported].reverse();
  expect((await patch({ events_supported: reversed, aud: [stream.aud] })).json).toEqual(stream);
  for (const wrong of [
    { iss: 'https://other.example' },
    { aud: 'did:web:other.example' },
    { aud: [stream.aud, 'did:web:other.example'] },
    { events_supported: [CREDENTIAL_CHANGE] },
    { events_delivered: [] },
    { events_delivered: [...stream.events_delivered, world.uriOf('decision.deny')] },
    { min_verification_interval: 1 },
    { delivery: { ...stream.delivery, endpoint_url: 'https://other.example/' } },
    { inactivity_timeout: 5 },
  ])
    expect([wrong, (await patch(wrong)).status]).toEqual([wrong, 400]);
  expect((await world.call('GET', `/ssf/streams?stream_id=${stream.stream_id}`)).json).toEqual(stream);
  expect((await world.call('PATCH', '/ssf/streams', { description: 'no id' })).status).toBe(400);
});

it('PATCH /ssf/streams stops the delivery of waiting events of types that are no longer requested', async () => {
  const deny = world.uriOf('decision.deny');
  const { rpKey: key } = await world.deployment.createTenants();
  const { stream_id } = await world.create({ events_requested: [deny] }, key);
  await world.call('POST', '/verify', { grant: '', proof: '', action: {} }, key);
  await world.move();
  expect(Object.keys((await world.poll(stream_id, {}, key)).sets)).toHaveLength(1);
  await world.call('PATCH', '/ssf/streams', { stream_id, events_requested: [CREDENTIAL_CHANGE] }, key);
  await world.call('POST', '/verify', { grant: '', proof: '', action: {} }, key);
  await world.move();
  expect(await world.poll(stream_id, {}, key)).toEqual({ sets: {}, moreAvailable: false });
});

it('PATCH /ssf/streams keeps a change of another member by a concurrent call', async () => {
  const { stream_id } = await world.create({ events_requested: [CREDENTIAL_CHANGE], description: 'One' });
  const requested = [world.uriOf('decision.deny')];
  const { databaseUrl } = world.deployment;
  const patched = await withSession(databaseUrl, async (other) => {
    await other.query('begin');
    await other.query(`update event_subscriptions set description = 'Two' where subscription_id = $1`, [
      stream_id,
    ]);
    const patching = world.call('PATCH', '/ssf/streams', { stream_id, events_requested: requested });
    await withSession(databaseUrl, (session) => untilWaiting(session));
    await other.query('commit');
    return patching;
  });
  expect(patched.json).toMatchObject({ description: 'Two', events_requested: requested });
});
