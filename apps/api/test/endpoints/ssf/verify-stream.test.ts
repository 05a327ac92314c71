/** `POST /ssf/verify`. */
import { expect, it } from 'vitest';
import { VERIFICATION, withStreams } from './world.ts';

const world = withStreams();

it('POST /ssf/verify answers 204 and sends a verification event with the state, even if its type is not requested', async () => {
  const stream = await world.create({});
  const { stream_id } = stream;
  const state = 'VGhpcyBpcyBhbiBleGFtcGxlIHN0YXRlIHZhbHVlLgo=';
  const asked = await world.call('POST', '/ssf/verify', { stream_id, state });
  expect(asked).toMatchObject({ status: 204, text: '' });
  await world.move();
  expect(await world.claimsOfOnly(await world.poll(stream_id), stream)).toMatchObject({
    ...{ sub_id: { format: 'opaque', id: stream_id }, events: { [VERIFICATION]: { state } } },
  });
});

it('POST /ssf/verify without a state sends an event without a state', async () => {
  const stream = await world.create({});
  await world.call('POST', '/ssf/verify', { stream_id: stream.stream_id });
  await world.move();
  const { events } = await world.claimsOfOnly(await world.poll(stream.stream_id), stream);
  expect(events).toEqual({ [VERIFICATION]: {} });
});

it('A second POST /ssf/verify within min_verification_interval answers 429 with retry-after; another stream is not affected', async () => {
  const { stream_id, min_verification_interval } = await world.create({});
  await world.call('POST', '/ssf/verify', { stream_id });
  const again = await world.call('POST', '/ssf/verify', { stream_id });
  expect(again.status).toBe(429);
  expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(min_verification_interval);
  const other = await world.create({});
  expect((await world.call('POST', '/ssf/verify', { stream_id: other.stream_id })).status).toBe(204);
  await world.deployment.sql.query(
    `update event_streams set verified_at = verified_at - interval '30 seconds' where subscription_id = $1`,
    [stream_id],
  );
  expect((await world.call('POST', '/ssf/verify', { stream_id })).status).toBe(204);
});

it('POST /ssf/verify on a paused stream delivers its event once enabled; on a disabled stream it answers 400', async () => {
  const { rpKey: key } = await world.deployment.createTenants();
  const { stream_id } = await world.create({}, key);
  const set = (status: string) => world.call('POST', '/ssf/status', { stream_id, status }, key);
  await set('disabled');
  expect((await world.call('POST', '/ssf/verify', { stream_id }, key)).status).toBe(400);
  await set('paused');
  expect((await world.call('POST', '/ssf/verify', { stream_id, state: 'x' }, key)).status).toBe(204);
  await world.move();
  expect((await world.poll(stream_id, {}, key)).sets).toEqual({});
  await set('enabled');
  await world.move();
  expect(Object.keys((await world.poll(stream_id, {}, key)).sets)).toHaveLength(1);
});
