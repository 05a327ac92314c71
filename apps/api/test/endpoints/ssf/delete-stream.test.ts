/** `DELETE /ssf/streams`. */
import { expect, it } from 'vitest';
import { withStreams } from './world.ts';

const world = withStreams();

it('DELETE /ssf/streams answers 204 without a body; the stream is then 404', async () => {
  const { stream_id } = await world.create();
  const deleted = await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  expect(deleted).toMatchObject({ status: 204, text: '' });
  expect(deleted.headers['content-type']).toBeUndefined();
  for (const [method, path] of [
    ['GET', `/ssf/streams?stream_id=${stream_id}`],
    ['GET', `/ssf/status?stream_id=${stream_id}`],
    ['DELETE', `/ssf/streams?stream_id=${stream_id}`],
  ] as const)
    expect((await world.call(method, path)).status).toBe(404);
  expect((await world.deployment.call('GET', '/ssf/streams', { key: world.key })).text).toBe('[]');
});

it('DELETE /ssf/streams without a stream_id is 400', async () => {
  expect((await world.call('DELETE', '/ssf/streams')).status).toBe(400);
});

it('After the release of a DID its SSF streams are not visible to a new holder', async () => {
  const { rpKey, rpDid } = await world.deployment.createTenants();
  const { stream_id } = await world.create({}, rpKey);
  await world.deployment.sql.query('select svc_forget_audience($1)', [`rp ${rpDid}`]);
  expect((await world.call('GET', '/ssf/streams', undefined, rpKey)).text).toBe('[]');
  expect((await world.call('GET', `/ssf/status?stream_id=${stream_id}`, undefined, rpKey)).status).toBe(404);
});
