/** `POST /api-keys/{key_id}/revoke` (interface §API keys and caller identity). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';
import { issueGrant, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let tenants: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId });
});

interface Key {
  readonly key_id: string;
  readonly api_key: string;
}

const post = (path: string, key: string, body?: unknown) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const list = (key: string, subject?: string) =>
  deployment.call('GET', `/api-keys${subject === undefined ? '' : `?subject=${subject}`}`, { key });
const issue = async (key: string, subject?: string, body: object = {}): Promise<Key> => {
  const { json } = await post(`/api-keys${subject === undefined ? '' : `?subject=${subject}`}`, key, body);
  return json as unknown as Key;
};
const revoke = (key: string, keyId: string, subject?: string) =>
  post(`/api-keys/${keyId}/revoke${subject === undefined ? '' : `?subject=${subject}`}`, key);
const isLive = async (key: string) => (await deployment.call('GET', '/me', { key })).status === 200;
const newRp = (): Promise<Registered> =>
  deployment.register('/relying-parties', { kind: 'managed', slug: randomSlug('r'), org_id: orgId });

describe('POST /api-keys/{key_id}/revoke with an own key', () => {
  it('rotates keys: the new key revokes the old one, idempotently, and stays valid', async () => {
    const rp = await newRp();
    const next = await issue(rp.key);
    const oldId = String(rp.body.api_key_id);
    const { status, json } = await revoke(next.api_key, oldId);
    expect([status, json]).toEqual([200, { key_id: oldId, revoked: true, revoked_at: expect.any(String) }]);
    expect((await revoke(next.api_key, oldId)).json).toEqual(json);
    expect([await isLive(rp.key), await isLive(next.api_key)]).toEqual([false, true]);
    expect((await list(next.api_key)).json.keys).toMatchObject([
      { key_id: next.key_id, revoked_at: null },
      { key_id: oldId, revoked_at: json.revoked_at },
    ]);
  });

  it('lets a key revoke itself; its next call gets 401', async () => {
    const rp = await newRp();
    expect((await revoke(rp.key, String(rp.body.api_key_id))).status).toBe(200);
    expect((await revoke(rp.key, String(rp.body.api_key_id))).status).toBe(401);
  });

  it('answers 404 to a malformed key id', async () => {
    expect((await revoke(tenants.rpKey, 'x')).status).toBe(404);
  });
});

describe('POST /api-keys/{key_id}/revoke with a subject', () => {
  it('is for the operator: a wrong subject gets 404, an org:admin key 403', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    const { key_id: keyId } = await issue(tenants.rpKey);
    expect((await revoke(ADMIN_TOKEN, keyId, tenants.principalDid)).status).toBe(404);
    expect((await revoke(orgAdmin, keyId, tenants.rpDid)).status).toBe(403);
    expect((await revoke(tenants.rpKey, keyId, tenants.principalDid)).status).toBe(404);
    expect((await revoke(ADMIN_TOKEN, keyId, tenants.rpDid)).status).toBe(200);
  });
});

it('A revoked RP key gets 401 from /verify on every node, also where it was cached', async () => {
  const grant = await issueGrant(tenants);
  const { key_id: keyId, api_key: key } = await issue(tenants.rpKey);
  const verifyOn = async (node: number) => {
    const sent = await fetch(`${deployment.processes[node]?.baseUrl}/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(await verifyBody(tenants, grant)),
    });
    return sent.status;
  };
  expect([await verifyOn(0), await verifyOn(1)]).toEqual([200, 200]);
  await revoke(tenants.rpKey, keyId);
  expect([await verifyOn(0), await verifyOn(1)]).toEqual([401, 401]);
});
