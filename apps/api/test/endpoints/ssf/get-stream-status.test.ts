/** `GET /ssf/status`. */
import { expect, it } from 'vitest';
import { withStreams } from './world.ts';

const world = withStreams();

it('GET /ssf/status shows enabled for a new stream, then the status and reason that were set; without stream_id 400', async () => {
  const { stream_id } = await world.create();
  const status = async () => (await world.call('GET', `/ssf/status?stream_id=${stream_id}`)).json;
  expect(await status()).toEqual({ stream_id, status: 'enabled' });
  await world.call('POST', '/ssf/status', { stream_id, status: 'paused', reason: 'maintenance' });
  expect(await status()).toEqual({ stream_id, status: 'paused', reason: 'maintenance' });
  expect((await world.call('GET', '/ssf/status')).status).toBe(400);
});
