/** `POST /access/v1/requests/{request_id}/cancel`. */
import { beforeAll, expect, it } from 'vitest';
import { approve, ask, reject, signApproval, statusOf } from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { type HeldGrant, issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  grant = await issueGrant(tenants);
});
const cancel = (id: string) =>
  deployment.call('POST', `/access/v1/requests/${id}/cancel`, { key: tenants.rpKey });

it('POST …/cancel ends a request, idempotently; approval and rejection then get 409', async () => {
  const { id, capability } = await ask(deployment, tenants, grant);
  for (let i = 0; i < 2; i++) expect(statusOf(await cancel(id))).toBe('cancelled');
  const signed = await signApproval(tenants, capability);
  expect((await approve(deployment, tenants, id, signed.grant)).status).toBe(409);
  expect((await reject(deployment, tenants, id)).status).toBe(409);
});

it('POST …/cancel answers 409 to a request that was decided', async () => {
  const { id } = await ask(deployment, tenants, grant);
  await reject(deployment, tenants, id);
  expect((await cancel(id)).status).toBe(409);
});
