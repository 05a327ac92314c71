/**
 * `GET /principals/{did}/decisions/stats` (protocol §13): a Principal reads the decisions about its own Grants. Who may
 * call: access matrix.
 */
import { expect, it } from 'vitest';
import { withOwnDecisions } from '../../world/own-decisions.ts';

const world = withOwnDecisions();

it('GET /principals/{did}/decisions/stats counts the decisions that the list has, in total and per relying party', async () => {
  const { json } = await world.get('/stats');
  expect(json.totals).toEqual({ verifies: 5, allow: 3, deny: 2, allow_with_outcome: 1 });
  expect(json.principals).toMatchObject([
    {
      principal: world.own.principalDid,
      verifies: 5,
      reasons: { ACTION_MALFORMED: 1, ISSUER_UNVERIFIED: 1 },
      outcomes: { dispute_opened: 1 },
    },
  ]);
  expect((await world.get(`/stats?rp=${world.otherShop.rpDid}`)).json.totals).toMatchObject({ verifies: 2 });
});
