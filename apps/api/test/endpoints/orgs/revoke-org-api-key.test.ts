/** `POST /orgs/{org_id}/api-keys/{key_id}/revoke` (interface §Org). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);

beforeAll(async () => {
  orgId = await createOrg();
});

describe('POST /orgs/{org_id}/api-keys/{key_id}/revoke', () => {
  it('with an org:admin key works on other keys and on itself, at once, and is idempotent', async () => {
    const key = await deployment.createKey('org:admin', orgId);
    const spare = (await post(`/orgs/${orgId}/api-keys`, { role: 'read' }, key)).json;
    const revoke = (keyId: unknown, by: string) =>
      post(`/orgs/${orgId}/api-keys/${keyId}/revoke`, undefined, by);
    const first = await revoke(spare.key_id, key);
    expect(first.json).toEqual({ key_id: spare.key_id, revoked: true, revoked_at: expect.any(String) });
    expect((await revoke(spare.key_id, key)).json).toEqual(first.json);
    expect((await deployment.call('GET', '/me', { key: String(spare.api_key) })).status).toBe(401);

    const ownId = (await deployment.call('GET', '/me', { key })).json.key_id;
    expect((await revoke(ownId, key)).status).toBe(200);
    expect((await revoke(ownId, key)).status).toBe(401);
  });
});
