/** `POST /demo/revoke` (interface §Endpoints, Sandbox). */
import { describe, expect, it } from 'vitest';
import { contractCall, freshAddress } from '../../world/contract-call.ts';
import { withDeployment } from '../../world/deployment.ts';

const AUTHORITY = {
  action: 'commerce:purchase',
  constraints: { maxAmount: 50_000, currency: 'USD' },
  resources: ['sandbox/**'],
};

const deployment = withDeployment({ SVC_DEMO: '1' }, 2);

const post = (path: string, body: unknown, node = 0, ip = freshAddress()) =>
  contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', path, { body, ip });
const mint = async (body: object = {}, node = 0) => (await post('/demo/mint', body, node)).json;
const bodyOf = ({ grant, proof, action }: Readonly<Record<string, unknown>>) => ({ grant, proof, action });
const verify = async (minted: Readonly<Record<string, unknown>>, node = 0) =>
  (await post('/demo/verify', bodyOf(minted), node)).json;

describe('/demo/revoke', () => {
  it('revokes a minted Grant for both nodes, and again without harm', async () => {
    const minted = await mint({}, 0);
    const revoked = await post('/demo/revoke', { grant_id: minted.grant_id }, 1);
    expect(revoked.json).toEqual({
      grant_id: minted.grant_id,
      revoked: true,
      revoked_at: expect.any(String),
    });
    expect(await verify(minted, 0)).toMatchObject({ decision: 'DENY', reason: 'AUTHORITY_REVOKED' });
    expect((await post('/demo/revoke', { grant_id: minted.grant_id }, 0)).json).toEqual(revoked.json);
  });

  it('touches nobody else’s Grants', async () => {
    const tenants = await deployment.createTenants();
    const { grantId } = await tenants.principal.grants.issue({
      agent: tenants.agent.did,
      capabilities: [AUTHORITY as never],
    });
    expect((await post('/demo/revoke', { grant_id: grantId })).status).toBe(404);
    expect((await post('/demo/revoke', { grant_id: 'x' })).status).toBe(400);
  });
});
