/** `PUT /ssf/streams`. */
import { expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, withStreams } from './world.ts';

const world = withStreams();

it('takes back what is not named; what was read can be sent as it stands', async () => {
  const stream = await world.create({ events_requested: [CREDENTIAL_CHANGE], description: 'One' });
  const put = async (body: object) => (await world.call('PUT', '/ssf/streams', body)).json;
  expect(await put({ ...stream })).toEqual(stream);
  const { description: _, ...rest } = stream;
  const { stream_id } = stream;
  expect(await put({ stream_id, events_requested: [CREDENTIAL_CHANGE] })).toEqual(rest);
  expect(await put({ stream_id })).toEqual({ ...rest, events_requested: [], events_delivered: [] });
});

it('refuses what only the transmitter says and is said otherwise', async () => {
  const stream = await world.create();
  for (const wrong of [
    { iss: 'https://other.example' },
    { aud: 'x' },
    { events_supported: [] },
    { events_delivered: [] },
  ])
    expect((await world.call('PUT', '/ssf/streams', { ...stream, ...wrong })).status).toBe(400);
});
