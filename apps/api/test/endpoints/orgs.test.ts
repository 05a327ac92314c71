/** Orgs, their members and their own keys (interface §Org, §Onboarding and organizations). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-process.ts';
import { newOrgId, randomSlug, withDeployment } from '../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;
let otherOrgId: string;

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);
const registerRp = (more: object = {}) =>
  deployment.register('/relying-parties', { kind: 'managed', slug: randomSlug('r'), ...more });
const registerHosted = (did: string) => deployment.register('/principals', { kind: 'hosted', did });

beforeAll(async () => {
  orgId = await createOrg();
  otherOrgId = await createOrg();
});

describe('creation', () => {
  it('answers exactly the members of Org', async () => {
    const slug = randomSlug('org');
    const { status, json } = await post('/orgs', { slug, name: 'Ünïted Shöps' });
    expect(status).toBe(201);
    expect(json).toEqual({
      org_id: expect.stringMatching(/^org_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      slug,
      name: 'Ünïted Shöps',
      created_at: expect.any(String),
    });
  });

  it('a slug is given once, also among many at the same time', async () => {
    const body = { slug: randomSlug('org'), name: 'Acme' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => post('/orgs', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it.each([
    [{ slug: 'a', name: '' }],
    [{ slug: 'a', name: 'x'.repeat(201) }],
    [{ slug: 'a' }],
    [{ name: 'Acme' }],
    [{ slug: '-a', name: 'Acme' }],
    [{ slug: 'A', name: 'Acme' }],
    [{ slug: 'a'.repeat(64), name: 'Acme' }],
    [{ slug: 'a', name: 'Acme', more: 1 }],
  ])('400: %j', async (body) => {
    expect((await post('/orgs', body)).status).toBe(400);
  });

  it('takes a slug of 63 and a name of 200 characters', async () => {
    const slug = `${randomSlug('o')}${'x'.repeat(63)}`.slice(0, 63);
    expect((await post('/orgs', { slug, name: 'x'.repeat(200) })).status).toBe(201);
  });
});

describe('members', () => {
  it('are shown exactly as OrgMember: Principals, then relying parties', async () => {
    const id = await createOrg();
    const { principalDid, rpDid } = await deployment.createTenants({ orgId: id, rp: { name: 'Shop' } });
    const { json } = await deployment.call('GET', `/orgs/${id}`, { key: ADMIN_TOKEN });
    expect(json).toMatchObject({ org_id: id, name: 'Acme' });
    expect(json.members).toEqual([
      {
        did: principalDid,
        kind: 'principal',
        created_at: expect.any(String),
        principal_kind: 'managed',
        domain: 'svc.test',
        verification_state: 'verified',
        verification: expect.objectContaining({ state: 'verified', reverified_every_hours: 24 }),
      },
      {
        did: rpDid,
        kind: 'relying_party',
        created_at: expect.any(String),
        name: 'Shop',
        proof_window_seconds: 60,
        verify_rate_limit_per_minute: 600,
      },
    ]);
  });

  it('are all shown, however many there are', async () => {
    const id = await createOrg();
    await deployment.sql.query(
      `insert into principals (did, kind, domain, verification_state, verification_token, org_id, may_be_named)
       select 'did:web:' || n || '.many.example', 'hosted', n || '.many.example', 'unverified', 'x', $1, false
       from generate_series(1, 401) n`,
      [id],
    );
    const { json } = await deployment.call('GET', `/orgs/${id}`, { key: ADMIN_TOKEN });
    const dids = (json.members as { did: string }[]).map(({ did }) => did);
    expect([dids.length, new Set(dids).size]).toEqual([401, 401]);
  });

  it('a relying party joins; again is harmless; another org is 409; its own key shows the org', async () => {
    const rp = await registerRp();
    const add = (id: string) => post(`/orgs/${id}/members`, { did: rp.did });
    const added = { org_id: orgId, did: rp.did, kind: 'relying_party' };
    for (const { status, json } of [await add(orgId), await add(orgId)])
      expect([status, json]).toEqual([201, added]);
    expect((await add(otherOrgId)).status).toBe(409);
    expect((await deployment.call('GET', '/me', { key: rp.key })).json.org_id).toBe(orgId);
  });

  it('joining two orgs at the same time joins one', async () => {
    const rp = await registerRp();
    const answers = await Promise.all(
      [orgId, otherOrgId].map((id) => post(`/orgs/${id}/members`, { did: rp.did })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('a DID that is a Principal and a relying party joins as the one, then as the other', async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    await registerHosted(did);
    await deployment.register('/relying-parties', { kind: 'hosted', did });
    const add = async (id: string) => {
      const { status, json } = await post(`/orgs/${id}/members`, { did });
      return [status, json.kind];
    };
    expect([await add(orgId), await add(orgId), await add(orgId)]).toEqual([
      [201, 'principal'],
      [201, 'relying_party'],
      [201, 'principal'],
    ]);
    expect(await add(otherOrgId)).toEqual([409, undefined]);
  });

  it('404 for an org or a DID that is not there', async () => {
    const rp = await registerRp();
    expect((await post(`/orgs/${newOrgId()}/members`, { did: rp.did })).status).toBe(404);
    expect((await post(`/orgs/${orgId}/members`, { did: 'did:web:nobody.example' })).status).toBe(404);
    expect((await post('/orgs/org_1/members', { did: rp.did })).status).toBe(404);
  });

  it('org keys reach a new member at once', async () => {
    const key = await deployment.createKey('org:read', orgId);
    const rp = await registerRp();
    const read = async () => (await deployment.call('GET', `/relying-parties/${rp.did}`, { key })).status;
    expect(await read()).toBe(404);
    await post(`/orgs/${orgId}/members`, { did: rp.did });
    expect(await read()).toBe(200);
  });
});

describe('org keys', () => {
  it('are issued by role, work, and are listed without their values, newest first', async () => {
    const id = await createOrg();
    const issued = [];
    for (const [role, label] of [
      ['admin', 'ops'],
      ['read', undefined],
    ] as const) {
      const { status, json } = await post(`/orgs/${id}/api-keys`, { role, ...(label && { label }) });
      expect([status, json]).toEqual([
        201,
        {
          key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
          role: `org:${role}`,
          subject: id,
          label: label ?? null,
          created_at: expect.any(String),
          revoked_at: null,
          api_key: expect.stringMatching(new RegExp(`^dk_org_${role}_[0-9A-Za-z]{49}$`)),
        },
      ]);
      issued.push(json);
    }
    const [admin, read] = issued;
    for (const key of [admin, read].map((one) => String(one?.api_key))) {
      const { json } = await deployment.call('GET', `/orgs/${id}/api-keys`, { key });
      expect(json).toEqual({
        org_id: id,
        keys: [read, admin].map((one) => {
          const { api_key: _, ...shown } = one ?? {};
          return shown;
        }),
      });
    }
  });

  it('an org:admin key issues and revokes, itself included; revoking is immediate and idempotent', async () => {
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

  it.each([
    [{}],
    [{ role: 'org:read' }],
    [{ role: 'read', label: 'x'.repeat(101) }],
    [{ role: 'read', label: null }],
  ])('400: %j', async (body) => {
    expect((await post(`/orgs/${orgId}/api-keys`, body)).status).toBe(400);
  });

  it('a label of 100 characters is taken', async () => {
    const label = '🔑'.repeat(100);
    expect((await post(`/orgs/${orgId}/api-keys`, { role: 'read', label })).json.label).toBe(label);
  });
});
