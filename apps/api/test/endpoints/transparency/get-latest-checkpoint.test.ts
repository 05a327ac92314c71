/** `GET /checkpoints/latest` (interface §Transparency). */
import { expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withThreeDays } from '../../world/three-days.ts';

const { get, close, large } = await withThreeDays(withOwnDeployment());

it('GET /checkpoints/latest is 404 until a day is closed, then the last day’s checkpoint byte for byte', async () => {
  expect((await get('/checkpoints/latest')).json.error).toBe('NOT_FOUND');
  await close();
  const latest = await get('/checkpoints/latest');
  expect([latest.status, latest.json.day]).toEqual([200, large]);
  expect(latest.text).toBe((await get(`/checkpoints/${large}`)).text);
  expect(latest.headers['cache-control']).toBe('public, max-age=60');
});
