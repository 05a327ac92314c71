/** `GET /principals/{did}/access-requests/{request_id}`. */
import { expect, it } from 'vitest';
import { ask, read } from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant } from '../../world/tenants.ts';

const deployment = withDeployment();

it('GET /principals/{did}/access-requests/{request_id} shows what the relying party sees; another Principal gets 404', async () => {
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
