/** `GET /principals/{did}/access-requests/{request_id}`. */
import { expect, it } from 'vitest';
import { ask, read } from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant } from '../../world/tenants.ts';

const deployment = withDeployment();

it('shows the Principal what the relying party sees, and nobody else', async () => {
  const tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const other = await deployment.createTenants();
  const { id } = await ask(deployment, tenants, await issueGrant(tenants));
  const get = (did: string, key: string) =>
    deployment.call('GET', `/principals/${did}/access-requests/${id}`, { key });
  const own = await get(tenants.principalDid, tenants.principalKey);
  expect(own.json).toEqual((await read(deployment, tenants, id)).json);
  expect((await get(tenants.principalDid, other.principalKey)).status).toBe(404);
  expect((await get(other.principalDid, other.principalKey)).status).toBe(404);
});
