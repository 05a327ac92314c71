/** `PUT /ssf/streams`. */
import { expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, withStreams } from './world.ts';

const world = withStreams();

it('PUT /ssf/streams resets members that are not given; the stream as it was read is accepted unchanged', async () => {
  const stream = await world.create({ events_requested: [CREDENTIAL_CHANGE], description: 'One' });
  const put = async (body: object) => (await world.call('PUT', '/ssf/streams', body)).json;
  expect(await put({ ...stream })).toEqual(stream);
  const { description: _, ...rest } = stream;
  const { stream_id } = stream;
  expect(await put({ stream_id, events_requested: [CREDENTIAL_CHANGE] })).toEqual(rest);
  expect(await put({ stream_id })).toEqual({ ...rest, events_requested: [], events_delivered: [] });
});

it('PUT /ssf/streams answers 400 to a read-only member with another value', async () => {
  const stream = await world.create();
  for (const wrong of [
    { iss: 'https://other.example' },
    { aud: 'x' },
    { events_supported: [] },
    { events_delivered: [] },
  ])
    expect((await world.call('PUT', '/ssf/streams', { ...stream, ...wrong })).status).toBe(400);
});
