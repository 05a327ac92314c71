/**
 * `GET /principals/{did}/decisions/{receipt_id}` (protocol §13): a Principal reads the decisions about its own Grants.
 * Who may call: access matrix.
 */
import { expect, it } from 'vitest';
import { type Row, withOwnDecisions } from '../../world/own-decisions.ts';

const world = withOwnDecisions();

it('GET /principals/{did}/decisions/{receipt_id} shows a Receipt without the relying party’s notes; a forged Grant’s is 404', async () => {
  const [newest = ''] = world.expected;
  const { json, text } = await world.get(`/${newest}`);
  expect((json.receipt as Row).receipt_id).toBe(newest);
  expect(text).not.toContain('a secret of the shop');
  expect((await world.get(`/${world.forged}`)).status).toBe(404);
});
