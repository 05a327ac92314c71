/** `POST /principals/{did}/access-requests/{request_id}/reject`. */
import { beforeAll, expect, it } from 'vitest';
import { approve, ask, insertDue, read, reject, signApproval } from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { type HeldGrant, issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  grant = await issueGrant(tenants);
});

it('POST …/reject is final: the first reason remains, the relying party reads it, and an approval gets 409', async () => {
  const { id, capability } = await ask(deployment, tenants, grant);
  const first = await reject(deployment, tenants, id, { reason: 'Not this month.' });
  const again = await reject(deployment, tenants, id, { reason: 'another' });
  expect(again.text).toBe(first.text);
  expect((await read(deployment, tenants, id)).json).toMatchObject({
    task: { status: 'denied' },
    reason: 'Not this month.',
    result: null,
  });
  const signed = await signApproval(tenants, capability);
  const approval = await approve(deployment, tenants, id, signed.grant);
  expect([approval.status, approval.text]).toEqual([
    409,
    expect.stringMatching(/denied already.* cannot be asked again for 24 hours/),
  ]);
});

it('POST …/reject answers 409 to an expired request', async () => {
  const { id } = await ask(deployment, tenants, grant, {
    type: 'commerce:purchase',
    resource: 'order/8',
    amount: 90_000,
    currency: 'USD',
  });
  const due = await insertDue(deployment, id);
  const late = await reject(deployment, tenants, due);
  expect([late.status, late.text]).toEqual([409, expect.stringContaining('expired already')]);
});
