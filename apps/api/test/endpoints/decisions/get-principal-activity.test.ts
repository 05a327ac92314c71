/**
 * `GET /principals/{did}/decisions/activity` (protocol §13): who acted on a Principal's own Grants. Who may call:
 * access matrix.
 */
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { expect, it } from 'vitest';
import { insertDecisionRows, newDecisionRow } from '../../world/decision-rows.ts';
import { withDeployment } from '../../world/deployment.ts';
import { withOwnDecisions } from '../../world/own-decisions.ts';
import { issueGrant, receiptOf, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
const world = withOwnDecisions();

interface Group {
  readonly subject: string;
  readonly agent: string | null;
  readonly verifies: number;
}
const groupsBy = async (by: string, query = '') => {
  const { json } = await world.get(`/activity?by=${by}${query}`);
  return { ...json, groups: json.groups as Group[] };
};

it('GET …/decisions/activity groups the decisions on own Grants by Agent, Grant and relying party, without forged Grants', async () => {
  const byAgent = await groupsBy('agent');
  expect(byAgent).toMatchObject({ by: 'agent', counted: 5, complete: true, groups_total: 1 });
  expect(byAgent.groups).toMatchObject([
    {
      subject: world.own.agent.did,
      agent: null,
      ...{ verifies: 5, allow: 3, deny: 2 },
      reasons: { ACTION_MALFORMED: 1, ISSUER_UNVERIFIED: 1 },
      allowed_amounts: { USD: 300 },
    },
  ]);
  const ids = world.grants.map(({ grantId }) => grantId);
  const byGrant = (await groupsBy('grant')).groups;
  expect(byGrant.map(({ subject, agent, verifies }) => [subject, agent, verifies])).toEqual([
    [ids[0], world.own.agent.did, 3],
    [ids[1], world.own.agent.did, 2],
  ]);
  const byShop = (await groupsBy('rp')).groups;
  expect(new Map(byShop.map(({ subject, verifies }) => [subject, verifies]))).toEqual(
    new Map([
      [world.own.rpDid, 3],
      [world.otherShop.rpDid, 2],
    ]),
  );
});

it('GET …/decisions/activity?by=grant names no Agent for another Principal’s Grant, even if its id was signed anew', async () => {
  const other = await deployment.createTenants();
  const { grantId, grant } = await issueGrant(other);
  const own = await deployment.createTenants();
  const { receipt } = receiptOf(
    await deployment.call('POST', '/verify', {
      key: other.rpKey,
      body: await verifyBody(other, { grantId, grant }),
    }),
  );
  const row = {
    rp: other.rpDid,
    principal: own.principalDid,
    grant_id: grantId,
    reason: 'GRANT_NOT_ALLOCATED',
  };
  await insertDecisionRows(deployment.sql, [newDecisionRow(Date.now(), row)], receipt);
  const { json } = await deployment.call(
    'GET',
    `/principals/${encodeURIComponent(own.principalDid)}/decisions/activity?by=grant`,
    { key: own.principalKey },
  );
  expect(json.groups).toMatchObject([{ subject: grantId, agent: null, verifies: 1 }]);
});

it('GET …/decisions/activity filters by period and rp, and answers 400 without a known group', async () => {
  const none = await groupsBy('agent', '&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z');
  expect(none).toMatchObject({ counted: 0, complete: true, groups: [] });
  const ofOne = await groupsBy('agent', `&rp=${world.otherShop.rpDid}`);
  expect(ofOne).toMatchObject({ counted: 2, groups_total: 1 });
  for (const query of ['', '?by=key'])
    expect((await world.get(`/activity${query}`)).json.error).toBe('INVALID_REQUEST');
});

it('GET …/decisions/activity?by=grant names the Agent of the Grant, even after a denied Proof of another Agent', async () => {
  const { own } = world;
  const held = await issueGrant(own);
  const stranger = agentFromJwk((await generateAgentKey()).privateJwk);
  const { reason } = await world.verify({ ...own, agent: stranger }, held);
  expect(reason).toBe('PROOF_AGENT_MISMATCH');
  const group = (await groupsBy('grant')).groups.find(({ subject }) => subject === held.grantId);
  expect(group).toMatchObject({ agent: own.agent.did, verifies: 1 });
});
