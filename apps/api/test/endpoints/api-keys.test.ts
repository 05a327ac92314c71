/** API keys (interface §API keys and caller identity). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-process.ts';
import { type Registered, randomSlug, withDeployment } from '../world/deployment.ts';
import { issueGrant, type Tenants, verifyBody } from '../world/tenants.ts';

const deployment = withDeployment({}, 2);
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

describe('self-service', () => {
  it.each([
    ['rp', () => [tenants.rpKey, tenants.rpDid] as const],
    ['principal', () => [tenants.principalKey, tenants.principalDid] as const],
  ])('%s: issues a key of its own class, which works beside the old one', async (role, caller) => {
    const [key, subject] = caller();
    const { status, json } = await post('/api-keys', key, { label: 'till 7' });
    expect([status, json]).toEqual([
      201,
      {
        key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
        role,
        subject,
        label: 'till 7',
        created_at: expect.any(String),
        revoked_at: null,
        api_key: expect.stringMatching(new RegExp(`^dk_${role}_[0-9A-Za-z]{49}$`)),
      },
    ]);
    expect([await isLive(key), await isLive(String(json.api_key))]).toEqual([true, true]);
    const { api_key: _, ...shown } = json;
    const listed = (await list(String(json.api_key))).json;
    expect(listed.subject).toBe(subject);
    expect(listed.keys).toContainEqual(shown);
  });

  it('rotation: issue, change over, revoke the old key with the new one', async () => {
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

  it('a key may revoke itself; then it is nobody’s', async () => {
    const rp = await newRp();
    expect((await revoke(rp.key, String(rp.body.api_key_id))).status).toBe(200);
    expect((await revoke(rp.key, String(rp.body.api_key_id))).status).toBe(401);
  });

  it.each([
    [{ label: 'x'.repeat(101) }],
    [{ label: 1 }],
    [{ label: 'a\nb' }],
    [{ role: 'org:admin' }],
    [{ subject: 'x' }],
    [undefined],
  ])('body %j: 400', async (body) => {
    expect((await post('/api-keys', tenants.rpKey, body)).status).toBe(400);
  });

  it('a malformed key id is no key: 404', async () => {
    expect((await revoke(tenants.rpKey, 'x')).status).toBe(404);
  });
});

describe('acting for others', () => {
  it('the operator and an org:admin key issue and revoke for a member', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    for (const by of [ADMIN_TOKEN, orgAdmin])
      for (const subject of [tenants.rpDid, tenants.principalDid]) {
        const issued = await issue(by, subject);
        expect((await deployment.call('GET', '/me', { key: issued.api_key })).json.subject).toBe(subject);
        expect((await revoke(by, issued.key_id)).status).toBe(200);
        expect(await isLive(issued.api_key)).toBe(false);
      }
  });

  it('the operator may say whose key it must be; nobody else names a subject', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    const { key_id: keyId } = await issue(tenants.rpKey);
    expect((await revoke(ADMIN_TOKEN, keyId, tenants.principalDid)).status).toBe(404);
    expect((await revoke(orgAdmin, keyId, tenants.rpDid)).status).toBe(403);
    expect((await revoke(tenants.rpKey, keyId, tenants.principalDid)).status).toBe(404);
    expect((await revoke(ADMIN_TOKEN, keyId, tenants.rpDid)).status).toBe(200);
  });
});

describe('a DID that is a Principal of one customer and a relying party of another', () => {
  let principal: Registered;
  let rp: Registered;
  let orgAdmin: string;

  beforeAll(async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    principal = await deployment.register('/principals', { kind: 'hosted', did });
    orgAdmin = await deployment.createKey('org:admin', orgId);
    rp = await deployment.register('/relying-parties', { kind: 'hosted', did }, orgAdmin);
  });

  const ids = async (key: string, subject?: string) =>
    ((await list(key, subject)).json.keys as Key[]).map(({ key_id: keyId }) => keyId);

  it('each sees and revokes its own keys alone', async () => {
    const [principalId, rpId] = [principal, rp].map(({ body }) => String(body.api_key_id)) as [
      string,
      string,
    ];
    expect(await ids(principal.key)).toEqual([principalId]);
    expect(await ids(rp.key)).toEqual([rpId]);
    expect(await ids(orgAdmin, rp.did)).toEqual([rpId]);
    expect((await ids(ADMIN_TOKEN, rp.did)).sort()).toEqual([principalId, rpId].sort());
    expect((await revoke(rp.key, principalId)).status).toBe(404);
    expect((await revoke(orgAdmin, principalId)).status).toBe(404);
    expect((await revoke(principal.key, rpId)).status).toBe(404);
    expect(await isLive(principal.key)).toBe(true);
  });

  it('a key is issued of the class of the one that asks; for the operator it is undecided', async () => {
    expect((await issue(rp.key)).api_key).toMatch(/^dk_rp_/);
    expect((await issue(orgAdmin, rp.did)).api_key).toMatch(/^dk_rp_/);
    expect((await issue(principal.key)).api_key).toMatch(/^dk_principal_/);
    expect((await post(`/api-keys?subject=${rp.did}`, ADMIN_TOKEN, {})).status).toBe(409);
  });
});

it('a revoked RP key decides nothing on any node, however warm it was there', async () => {
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

it('a key that is being revoked issues no other one', async () => {
  const rp = await newRp();
  const { sql } = deployment;
  await sql.query('begin');
  await sql.query('update api_keys set revoked_at = now() where key_id = $1', [rp.body.api_key_id]);
  const issuing = post('/api-keys', rp.key, {});
  const isWaiting = async () =>
    (await sql.query(`select from pg_locks where not granted and locktype in ('transactionid', 'tuple')`))
      .rowCount;
  while (!(await isWaiting()));
  await sql.query('commit');
  const { status, json } = await issuing;
  expect([status, json.error]).toEqual([401, 'UNAUTHORIZED']);
  expect((await list(ADMIN_TOKEN, rp.did)).json.keys).toHaveLength(1);
});

describe('observer keys', () => {
  const observers = async () =>
    (await deployment.call('GET', '/observer-keys', { key: ADMIN_TOKEN })).json.keys as Key[];

  it('belong to the service; are issued, listed without values, and revoked once', async () => {
    const { status, json } = await post('/observer-keys', ADMIN_TOKEN, { label: 'board' });
    const { api_key: value, ...shown } = json;
    expect([status, shown]).toEqual([
      201,
      {
        key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
        role: 'observer',
        subject: 'did:web:svc.test',
        label: 'board',
        created_at: expect.any(String),
        revoked_at: null,
      },
    ]);
    expect(value).toMatch(/^dk_observer_[0-9A-Za-z]{49}$/);
    expect(await observers()).toContainEqual(shown);
    const revoked = await post(`/observer-keys/${json.key_id}/revoke`, ADMIN_TOKEN);
    expect(revoked.json).toEqual({ key_id: json.key_id, revoked: true, revoked_at: expect.any(String) });
    expect((await post(`/observer-keys/${json.key_id}/revoke`, ADMIN_TOKEN)).json).toEqual(revoked.json);
    expect(await observers()).toContainEqual({ ...shown, revoked_at: revoked.json.revoked_at });
    expect(await isLive(String(value))).toBe(false);
  });
});
