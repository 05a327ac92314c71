/** `POST /ssf/streams`. */
import { expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, withStreams } from './world.ts';

const world = withStreams();

it('POST /ssf/streams answers 201 with the whole configuration; unknown `events_requested` are stored, not delivered', async () => {
  const requested = [CREDENTIAL_CHANGE, 'urn:example:secevent:events:type_2', world.uriOf('decision.deny')];
  const stream = await world.create({ events_requested: requested, description: 'Gateway' });
  const { baseUrl } = world.deployment.process.service.identity;
  expect(stream).toEqual({
    stream_id: expect.stringMatching(/^ssf_[0-9A-Z]{26}$/),
    iss: baseUrl,
    aud: world.tenants.principalDid,
    events_supported: expect.arrayContaining([CREDENTIAL_CHANGE, world.uriOf('decision.deny')]),
    events_requested: requested,
    events_delivered: [world.uriOf('decision.deny'), CREDENTIAL_CHANGE],
    delivery: {
      method: 'urn:ietf:rfc:8936',
      endpoint_url: `${baseUrl}/ssf/streams/${stream.stream_id}/poll`,
    },
    min_verification_interval: 30,
    description: 'Gateway',
  });
});

it('POST /ssf/streams without `delivery` creates a poll stream; without `events_requested` nothing is delivered', async () => {
  expect(await world.create({})).toMatchObject({
    ...{ events_requested: [], events_delivered: [], delivery: { method: 'urn:ietf:rfc:8936' } },
  });
});

it.each([
  [
    'an unknown delivery method',
    { delivery: { method: 'urn:ietf:rfc:1', endpoint_url: 'https://a.example/' } },
  ],
  ['no method', { delivery: {} }],
  [
    'an endpoint_url, which the transmitter sets',
    { delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: 'https://a.example/' } },
  ],
  ['events_requested that is not a list', { events_requested: CREDENTIAL_CHANGE }],
  ['65 events_requested', { events_requested: Array.from({ length: 65 }, (_, i) => `urn:example:${i}`) }],
  ['a member that only the transmitter sets', { stream_id: 'mine' }],
])('POST /ssf/streams answers 400 to %s', async (_, body) => {
  expect((await world.call('POST', '/ssf/streams', body)).status).toBe(400);
});

it('POST /ssf/streams answers 409 to the sixth stream of a subject, until one is deleted', async () => {
  const { principalKey: key } = await world.deployment.createTenants();
  const streams = [];
  for (let i = 0; i < 5; i++) streams.push(await world.create({}, key));
  expect((await world.call('POST', '/ssf/streams', {}, key)).status).toBe(409);
  await world.call('DELETE', `/ssf/streams?stream_id=${streams[0]?.stream_id}`, undefined, key);
  expect(new Set([...streams, await world.create({}, key)].map((one) => one.stream_id)).size).toBe(6);
});

it('An SSF stream is not listed in /event-subscriptions, and is audited as stream.create', async () => {
  const { rpKey: key } = await world.deployment.createTenants();
  const { stream_id } = await world.create({}, key);
  expect((await world.call('GET', '/event-subscriptions', undefined, key)).json).toEqual({
    subscriptions: [],
  });
  const row = await world.deployment.sql.query(`select action from audit_events where target = $1`, [
    stream_id,
  ]);
  expect(row.rows).toEqual([{ action: 'stream.create' }]);
});
