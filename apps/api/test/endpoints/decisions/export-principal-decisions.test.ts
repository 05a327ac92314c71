/**
 * `GET /principals/{did}/decisions/export` (protocol §13): a Principal reads the decisions about its own Grants. Who
 * may call: access matrix.
 */
import { expect, it } from 'vitest';
import { withOwnDecisions } from '../../world/own-decisions.ts';

const world = withOwnDecisions();

it('GET /principals/{did}/decisions/export has Receipts and outcomes, without the relying party’s notes', async () => {
  const { text, headers } = await world.get('/export');
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { receipt: { receipt_id: string }; outcomes: { type: string }[] });
  expect(headers['x-svc-rows']).toBe(String(world.expected.length));
  expect(rows.map(({ receipt }) => receipt.receipt_id)).toEqual(world.expected);
  expect(rows.flatMap(({ outcomes }) => outcomes.map(({ type }) => type))).toEqual(['dispute_opened']);
  expect(text).not.toContain('a secret of the shop');
  expect((await world.get('/export?format=csv')).text).not.toContain('a secret of the shop');
});

it('`client.decisions.export` of the Principal SDK streams the same decisions', async () => {
  const ids: string[] = [];
  for await (const { receipt_id: id } of world.own.principal.decisions.export({ limit: 2 })) ids.push(id);
  expect(ids).toEqual(world.expected);
});
