/** `POST /api-keys` (interface §API keys and caller identity). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

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

describe('POST /api-keys with an own key', () => {
  it.each([
    ['rp', () => [tenants.rpKey, tenants.rpDid] as const],
    ['principal', () => [tenants.principalKey, tenants.principalDid] as const],
  ])('%s: issues a key of its own class; both keys work', async (role, caller) => {
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

  it.each([
    [{ label: 'x'.repeat(101) }],
    [{ label: 1 }],
    [{ label: 'a\nb' }],
    [{ role: 'org:admin' }],
    [{ subject: 'x' }],
  ])('refuses body %j with 400', async (body) => {
    expect((await post('/api-keys', tenants.rpKey, body)).status).toBe(400);
  });
});

describe('POST /api-keys for another subject', () => {
  it('and the revocation are allowed to the operator and to an org:admin key for a member', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    for (const by of [ADMIN_TOKEN, orgAdmin])
      for (const subject of [tenants.rpDid, tenants.principalDid]) {
        const issued = await issue(by, subject);
        expect((await deployment.call('GET', '/me', { key: issued.api_key })).json.subject).toBe(subject);
        expect((await revoke(by, issued.key_id)).status).toBe(200);
        expect(await isLive(issued.api_key)).toBe(false);
      }
  });
});

describe('POST /api-keys for a DID that is a Principal of one customer and a relying party of another', () => {
  let principal: Registered;
  let rp: Registered;
  let orgAdmin: string;

  beforeAll(async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    principal = await deployment.register('/principals', { kind: 'hosted', did });
    orgAdmin = await deployment.createKey('org:admin', orgId);
    rp = await deployment.register('/relying-parties', { kind: 'hosted', did }, orgAdmin);
  });

  it('issues a key of the caller’s kind; for the operator the DID is ambiguous: 400', async () => {
    expect((await issue(rp.key)).api_key).toMatch(/^dk_rp_/);
    expect((await issue(orgAdmin, rp.did)).api_key).toMatch(/^dk_rp_/);
    expect((await issue(principal.key)).api_key).toMatch(/^dk_principal_/);
    expect((await post(`/api-keys?subject=${rp.did}`, ADMIN_TOKEN, {})).status).toBe(400);
  });
});

it('POST /api-keys with a key that is being revoked at the same time answers 401 and issues no key', async () => {
  const rp = await newRp();
  const { sql } = deployment;
  await sql.query('begin');
  await sql.query('update api_keys set revoked_at = now() where key_id = $1', [rp.body.api_key_id]);
  const issuing = post('/api-keys', rp.key, {});
  await deployment.untilWaiting(1);
  await sql.query('commit');
  const { status, json } = await issuing;
  expect([status, json.error]).toEqual([401, 'UNAUTHORIZED']);
  expect((await list(ADMIN_TOKEN, rp.did)).json.keys).toHaveLength(1);
});
