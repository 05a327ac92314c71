/** `GET /principals/{did}/access-requests`: the requests to a Principal, newest first, for it and its org. */
import { beforeAll, expect, it } from 'vitest';
import { ask, DEAR, insertDue, reject } from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let orgRead: string;
const ids: string[] = [];
beforeAll(async () => {
  const orgId = await deployment.createOrg();
  orgRead = await deployment.createKey('org:read', orgId);
  tenants = await deployment.createTenants({ orgId, rp: { profile: 'svc-base-v2' } });
  const grant = await issueGrant(tenants);
  for (const resource of ['order/1', 'order/2', 'order/3'])
    ids.unshift((await ask(deployment, tenants, grant, { ...DEAR, amount: 90_001, resource })).id);
});

const list = async (query = '', key = tenants.principalKey) => {
  const path = `/principals/${tenants.principalDid}/access-requests${query}`;
  const { json } = await deployment.call('GET', path, { key });
  const requests = json.requests as { task: { id: string; status: string } }[];
  return { ids: requests.map(({ task }) => task.id), next: json.next_cursor as string | null, requests };
};

it('GET …/access-requests lists newest first, in pages, the same to the Principal and its org', async () => {
  expect((await list()).ids).toEqual(ids);
  const first = await list('?limit=2', orgRead);
  expect(first.ids).toEqual(ids.slice(0, 2));
  const second = await list(`?limit=2&cursor=${first.next}`, orgRead);
  expect([second.ids, second.next]).toEqual([ids.slice(2), null]);
});

it('GET …/access-requests filters by status; a request past its expiry counts as expired, not as pending', async () => {
  const [newest = ''] = ids;
  const due = await insertDue(deployment, newest);
  await reject(deployment, tenants, newest);
  expect((await list('?status=pending')).ids).toEqual(ids.slice(1));
  expect((await list('?status=denied')).ids).toEqual([newest]);
  expect((await list('?status=expired')).ids).toEqual([due]);
  expect((await list()).requests.find(({ task }) => task.id === due)?.task.status).toBe('expired');
});
