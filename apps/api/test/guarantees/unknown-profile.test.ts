/**
 * A relying party whose stored profile this version does not know, as after the operator went back from a later
 * version: nothing is decided for it, and the answer says so.
 */
import { expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { approve, ask, askAbout, DEAR, signApproval, verifyAction } from '../world/approvals.ts';
import { withDeployment } from '../world/deployment.ts';
import { issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const deployment = withDeployment();
const LATER = 'svc-base-v9';

it('is answered 503 by every call that would evaluate; the Proof is not spent, and a known profile ends it', async () => {
  const tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const { rpDid, rpKey } = tenants;
  const grant = await issueGrant(tenants);
  const { receipt_id: denied } = await verifyAction(deployment, tenants, grant);
  const { id, capability } = await ask(deployment, tenants, grant, { ...DEAR, resource: 'order/8' });
  const body = await verifyBody(tenants, grant);
  const asked = {
    subject: { type: 'agent', id: tenants.agent.did, properties: { grant: body.grant, proof: body.proof } },
    action: {
      name: body.action.type,
      properties: { amount: body.action.amount, currency: body.action.currency },
    },
    resource: { type: 'order', id: body.action.resource },
  };
  const store = 'update relying_parties set profile = $2, version = version + 1 where did = $1';
  onTestFinished(async () => {
    await deployment.sql.query(store, [rpDid, 'svc-base-v2']);
  });
  await deployment.sql.query(store, [rpDid, LATER]);

  const answers = {
    verify: await deployment.call('POST', '/verify', { key: rpKey, body }),
    dryRun: await deployment.call('POST', '/verify/dry-run', { key: rpKey, body }),
    authzen: await deployment.call('POST', '/access/v1/evaluation', { key: rpKey, body: asked }),
    request: await askAbout(deployment, tenants, denied),
    approve: await approve(deployment, tenants, id, (await signApproval(tenants, capability)).grant),
  };
  for (const [name, { status, json, headers }] of Object.entries(answers)) {
    expect([status, json.error], name).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(json.message, name).toMatch(`does not know the profile of ${rpDid}, ${LATER}, `);
    expect(headers['retry-after'], name).toBe('60');
  }
  const path = `/relying-parties/${encodeURIComponent(rpDid)}`;
  const shown = await deployment.call('GET', path, { key: rpKey });
  expect([shown.status, shown.json.profile]).toEqual([200, undefined]);

  const change = { key: ADMIN_TOKEN, body: { profile: 'svc-base-v2' } };
  expect((await deployment.call('PATCH', path, change)).status).toBe(200);
  const receipt = receiptOf(await deployment.call('POST', '/verify', { key: rpKey, body }));
  expect(receipt.decision).toBe('ALLOW');
});
