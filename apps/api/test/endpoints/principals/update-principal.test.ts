/** `PATCH /principals/{did}`: consent to be named (interface §Principal lifecycle). */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let otherOrgId: string;
let own: Tenants;
let foreign: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  otherOrgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: otherOrgId });
});

const get = (path: string, key: string) => deployment.call('GET', path, { key });
const recordPath = (did: string) => `/principals/${encodeURIComponent(did)}`;

describe('PATCH /principals/{did} with may_be_named', () => {
  const patch = (did: string, key: string, body: unknown) =>
    deployment.call('PATCH', recordPath(did), { key, body });

  it('lets the operator set and reset the consent, which the directory shows; the Principal’s version does not change', async () => {
    const versionOf = async () =>
      (await deployment.sql.query('select version from principals where did = $1', [foreign.principalDid]))
        .rows[0]?.version;
    const before = await versionOf();
    for (const mayBeNamed of [true, true, false]) {
      const { status, json } = await patch(foreign.principalDid, ADMIN_TOKEN, { may_be_named: mayBeNamed });
      expect([status, json.may_be_named, json.org_id]).toEqual([200, mayBeNamed, otherOrgId]);
      expect((await get(recordPath(foreign.principalDid), own.rpKey)).json.may_be_named).toBe(mayBeNamed);
    }
    expect(await versionOf()).toBe(before);
  });

  it('answers 401 to every other key, even the Principal’s own', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    for (const key of [own.principalKey, own.rpKey, orgAdmin])
      expect((await patch(own.principalDid, key, { may_be_named: true })).status).toBe(401);
  });

  it.each([
    [{}],
    [{ may_be_named: 'yes' }],
    [{ may_be_named: null }],
    [{ may_be_named: true, more: 1 }],
    [[]],
  ])('refuses %j with 400', async (body) => {
    expect((await patch(own.principalDid, ADMIN_TOKEN, body)).json.error).toBe('INVALID_REQUEST');
  });

  it('answers 404 to an unknown Principal', async () => {
    expect((await patch('did:web:nobody.example', ADMIN_TOKEN, { may_be_named: true })).status).toBe(404);
  });
});
