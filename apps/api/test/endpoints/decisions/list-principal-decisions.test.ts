/**
 * `GET /principals/{did}/decisions` (protocol §13): a Principal reads the decisions about its own Grants. Who may call:
 * access matrix.
 */
import { expect, it } from 'vitest';
import { type Row, withOwnDecisions } from '../../world/own-decisions.ts';

const world = withOwnDecisions();

const idsOf = async (query = '', key?: string) =>
  ((await world.get(query, key)).json.decisions as Row[]).map(({ receipt_id: id }) => id);

it('GET /principals/{did}/decisions lists all decisions on its Grants, without key ids and without forged Grants', async () => {
  expect(await idsOf()).toEqual(world.expected);
  expect(await idsOf('', world.orgRead)).toEqual(world.expected);
  const { json } = await world.get();
  expect((json.decisions as Row[]).every(({ key_id: keyId }) => keyId === null)).toBe(true);
});

it('GET /principals/{did}/decisions filters by rp, grant_id, decision and reason, and returns pages', async () => {
  const two = world.grants[1]?.grantId;
  const byShop = await idsOf(`?rp=${world.otherShop.rpDid}`);
  const byGrant = await idsOf(`?grant_id=${two}`);
  const denied = await idsOf('?decision=DENY');
  expect([byShop.length, byGrant.length, denied.length]).toEqual([2, 2, 2]);
  expect(await idsOf('?reason=ISSUER_UNVERIFIED')).toHaveLength(1);
  expect(await idsOf('?reason=GRANT_SIGNATURE_INVALID')).toEqual([]);
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await world.get(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...(json.decisions as Row[]).map(({ receipt_id: id }) => id));
    cursor = json.next_cursor as string | null;
  }
  expect(pages).toEqual(world.expected);
});
