/**
 * The requests that an approval sends to hosts of Principals have the same bounds as those of a verification (protocol
 * §13).
 */
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { type Asked, approve, ask, read, signApproval, statusOf } from '../world/approvals.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { createHostedTenants } from '../world/hosted-tenants.ts';
import { startPrincipalHost } from '../world/principal-host.ts';
import { type HeldGrant, issueGrant, type Tenants } from '../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const domain = { host, name: `${randomSlug('host')}.example` };
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [domain.name]: host.url }) });

let tenants: Tenants;
let asked: Asked;
let signed: HeldGrant;
let open = () => {};

/**
 * A request, the Grant for it, and a document of its Principal that is too old to use, so that each approval asks the
 * host.
 */
beforeEach(async () => {
  const orgKey = await deployment.createKey('org:admin', await deployment.createOrg());
  const shop = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  tenants = await createHostedTenants(deployment, domain, orgKey, shop);
  asked = await ask(deployment, tenants, await issueGrant(tenants));
  signed = await signApproval(tenants, asked.capability);
  await deployment.sql.query(
    `update principals set document_resolved_at = now() - interval '90 minutes', version = version + 1 where did = $1`,
    [tenants.principalDid],
  );
});

afterEach(() => {
  open();
  host.isDown = false;
});

const approveNow = async () => (await approve(deployment, tenants, asked.id, signed.grant)).status;
const documentsAsked = () => {
  const path = `/${tenants.principalDid.split(':').at(-1)}/did.json`;
  return host.asked.filter((one) => one === path).length;
};

it('a host that hangs gets one request for ten concurrent approvals, and each approval is answered with 409', async () => {
  const before = documentsAsked();
  host.gate = new Promise((resolve) => {
    open = resolve;
  });
  const answers = await Promise.all(Array.from({ length: 10 }, approveNow));
  expect(new Set(answers)).toEqual(new Set([409]));
  expect(documentsAsked() - before).toBe(1);
  expect(statusOf(await read(deployment, tenants, asked.id))).toBe('pending');
});

it('a host that failed gets no further request from the next approvals', async () => {
  const before = documentsAsked();
  host.isDown = true;
  expect([await approveNow(), await approveNow(), await approveNow()]).toEqual([409, 409, 409]);
  expect(documentsAsked() - before).toBe(1);
});
