/** A Proof that arrives with another request than the one it names, at the middlewares: it is refused and not spent. */
import { purchase } from '@svc/sdk-principal';
import { signProof } from '@svc/sdk-principal/agent';
import { createVerifier, RequestMismatchError } from '@svc/sdk-rp';
import { protect } from '@svc/sdk-rp/fetch';
import { beforeAll, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const deployment = withDeployment();
const ORIGIN = 'https://shop.example';
const action = { type: 'commerce:purchase', resource: 'order/1', amount: 400, currency: 'USD' } as const;
let tenants: Tenants;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
});

it('a Proof sent with another request is REQUEST_MISMATCH and neither spent nor charged; its own request is allowed afterwards', async () => {
  const { agent, principal, rpDid, rpKey } = tenants;
  const { baseUrl } = deployment.process;
  const verifier = createVerifier({ baseUrl, apiKey: rpKey, serviceDid: `did:web:${DOMAIN}` });
  const shop = protect({ verifier, origin: ORIGIN, action: () => action }, () => new Response('sold'));
  const { grant, grantId } = await principal.grants.issue({
    agent: agent.did,
    capabilities: [purchase({ maxAmountMinor: 500, currency: 'USD', maxTotalMinor: 1000, maxUses: 2 })],
  });
  const url = `${ORIGIN}/orders`;
  const proof = await signProof({ agent, grantId, audience: rpDid, action, method: 'POST', url });
  const send = (method: string, to: string) =>
    shop(new Request(to, { method, headers: { 'svc-grant': grant, 'svc-proof': proof } }));
  const consumption = () => principal.grants.consumptionPage(grantId);

  for (const [method, to] of [
    ['PUT', url],
    ['POST', `${ORIGIN}/refunds`],
  ] as const) {
    const refused = await send(method, to);
    expect(refused.status).toBe(403);
    const body = await refused.json();
    expect(body).toMatchObject({ reason: 'REQUEST_MISMATCH' });
    expect(body).not.toHaveProperty('receipt_id');
    const asked = verifier.verify({ grant, proof, action, request: { method, url: to } });
    await expect(asked).rejects.toBeInstanceOf(RequestMismatchError);
  }
  expect(await consumption()).toMatchObject({ version: 0, capabilities: [], events: [] });
  const decided = async () => {
    const all: unknown[] = [];
    for await (const { decision, reason } of verifier.decisions.list()) all.push(reason ?? decision);
    return all;
  };
  expect(await decided()).toEqual([]);

  expect(await (await send('POST', url)).text()).toBe('sold');
  expect((await consumption()).capabilities).toMatchObject([{ spent_total: 400, uses_spent: 1 }]);
  expect(await (await send('POST', url)).json()).toMatchObject({ reason: 'PROOF_REPLAYED' });
  expect(await decided()).toEqual(['PROOF_REPLAYED', 'ALLOW']);
});
