/** `POST /relying-parties` (interface §Relying party, §Onboarding). */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { newOrgId, type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;
let foreignOrgId: string;
let orgAdmin: string;
let own: Registered;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  foreignOrgId = await deployment.createOrg();
  orgAdmin = await deployment.createKey('org:admin', orgId);
  own = await deployment.register('/relying-parties', managed(), orgAdmin);
});

const managed = (more: object = {}) => ({ kind: 'managed', slug: randomSlug('r'), ...more });
/** Each call has its own org:admin key, so that tests do not use up each other's limits. */
const create = async (body: object, key?: string) =>
  deployment.call('POST', '/relying-parties', {
    key: key ?? (await deployment.createKey('org:admin', orgId)),
    body,
  });
const get = (did: string, key: string) =>
  deployment.call('GET', `/relying-parties/${encodeURIComponent(did)}`, { key });
const patch = async (did: string, body: object, key?: string) =>
  deployment.call('PATCH', `/relying-parties/${encodeURIComponent(did)}`, {
    key: key ?? (await deployment.createKey('org:admin', orgId)),
    body,
  });

describe('POST /relying-parties', () => {
  it('creates a managed relying party with exactly the members of RelyingPartyCreated and the defaults', async () => {
    const slug = randomSlug('r');
    expect((await create({ kind: 'managed', slug })).json).toEqual({
      did: `did:web:${DOMAIN}:rp:${slug}`,
      name: slug,
      proof_window_seconds: 60,
      verify_rate_limit_per_minute: 600,
      created_at: expect.any(String),
      api_key: expect.stringMatching(/^dk_rp_[0-9A-Za-z]{49}$/),
      api_key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  it('creates a hosted one under its own DID: without a claim for the operator, with a claim to prove for an org', async () => {
    const did = `did:web:${randomSlug('h')}.example:shop`;
    const { status, json } = await create({ kind: 'hosted', did, name: 'Shop' }, ADMIN_TOKEN);
    expect([status, json.did, json.name]).toEqual([201, did, 'Shop']);
    const ofOperator = await deployment.call('GET', `/claims/${did}`, { key: ADMIN_TOKEN });
    expect(ofOperator.json).toEqual({ did, claims: [] });

    const host = `${randomSlug('h')}.example`;
    const claimed = await create({ kind: 'hosted', did: `did:web:${host}` });
    // Only members of the interface, so that a strict reader accepts this answer too.
    expect(Object.keys(claimed.json).sort()).toEqual([
      ...['api_key', 'api_key_id', 'created_at', 'did', 'name', 'proof_window_seconds'],
      'verify_rate_limit_per_minute',
    ]);
    const own = { key: String(claimed.json.api_key) };
    const shown = await deployment.call('GET', `/relying-parties/did:web:${host}`, own);
    expect(Object.keys(shown.json)).not.toContain('claim');
    const { json: open } = await deployment.call('GET', `/claims/did:web:${host}`, own);
    const [claim] = open.claims as { dns_txt: { value: string } }[];
    const token = claim?.dns_txt.value.replace('svc-verification=', '');
    expect(claim).toEqual({
      kind: 'relying_party',
      expires_at: expect.any(String),
      dns_txt: { name: `_svc-challenge.${host}`, value: `svc-verification=${token}` },
      well_known: {
        url: `https://${host}/.well-known/svc-verification.json`,
        body: { did: `did:web:${host}`, token },
      },
    });
  });

  it('accepts every setting, and the relying party’s key reads them with profile and org', async () => {
    const settings = {
      name: 'Ünïted Shöps',
      proof_window_seconds: 300,
      verify_rate_limit_per_minute: 1_000_000,
    };
    const { json } = await create(managed({ ...settings, profile: 'svc-base-v1' }));
    expect((await get(String(json.did), String(json.api_key))).json).toEqual({
      did: json.did,
      ...settings,
      created_at: json.created_at,
      org_id: orgId,
      profile: 'svc-base-v1',
    });
  });

  it.each([
    ['proof_window_seconds', [1, 300], [0, 301, -1, 1.5, '60', null]],
    ['verify_rate_limit_per_minute', [1, 1_000_000], [0, 1_000_001, '600', null]],
    ['name', ['x', 'x'.repeat(200)], ['', 'x'.repeat(201), 'a\nb', 1, null]],
  ])('and PATCH accept %s at its bounds and refuse values beyond with 400', async (member, good, bad) => {
    for (const value of good) {
      const { json } = await create(managed({ [member]: value }));
      expect(json[member]).toBe(value);
      expect((await patch(own.did, { [member]: value })).json[member]).toBe(value);
    }
    for (const value of bad) {
      expect([value, (await create(managed({ [member]: value }))).status]).toEqual([value, 400]);
      expect([value, (await patch(own.did, { [member]: value })).status]).toEqual([value, 400]);
    }
  });

  it.each([
    [{ kind: 'managed' }],
    [{ kind: 'managed', slug: 'UPPER' }],
    [{ kind: 'managed', slug: 'a', did: 'did:web:a.example' }],
    [{ kind: 'hosted' }],
    [{ kind: 'hosted', did: 'did:web:a.example', slug: 'a' }],
    [{ kind: 'hosted', did: 'did:web:192.0.2.1' }],
    [{ kind: 'hosted', did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' }],
    [{ kind: 'else', slug: 'a' }],
    [{ slug: 'a' }],
    [{ kind: 'managed', slug: 'a', profile: 'svc-base-v9' }],
    [{ kind: 'managed', slug: 'a', more: 1 }],
    [[]],
  ])('refuses %j with 400', async (body) => {
    expect((await create(body)).json.error).toBe('INVALID_REQUEST');
  });

  it('answers 409 to a reserved slug, except from the operator; the sandbox slug is refused to all', async () => {
    for (const slug of ['support', 'billing', 'sandbox'])
      expect((await create(managed({ slug }))).json).toMatchObject({
        ...{ error: 'CONFLICT', message: `slug: ${slug} is reserved.` },
      });
    expect((await create(managed({ slug: 'support' }), ADMIN_TOKEN)).status).toBe(201);
    expect((await create(managed({ slug: 'sandbox' }), ADMIN_TOKEN)).status).toBe(409);
  });

  it('answers 409 to a taken slug or DID, and to a hosted DID under the service’s domain', async () => {
    const slug = randomSlug('r');
    const did = `did:web:${randomSlug('h')}.example`;
    for (const body of [managed({ slug }), { kind: 'hosted', did }]) {
      expect((await create(body)).status).toBe(201);
      expect((await create(body)).json.error).toBe('CONFLICT');
    }
    expect((await create({ kind: 'hosted', did: `did:web:${DOMAIN}:rp:x` })).status).toBe(409);
  });

  it('accepts an org:admin key for its own org only, and the operator’s token for any existing org', async () => {
    expect((await create(managed({ org_id: foreignOrgId }))).status).toBe(403);
    expect((await create(managed({ org_id: newOrgId() }), ADMIN_TOKEN)).status).toBe(400);
    const { json } = await create(managed({ org_id: foreignOrgId }), ADMIN_TOKEN);
    expect((await get(String(json.did), ADMIN_TOKEN)).json.org_id).toBe(foreignOrgId);
  });

  it('leaves org_id null if the operator names no org', async () => {
    const { did } = await deployment.register('/relying-parties', managed());
    expect((await get(did, ADMIN_TOKEN)).json.org_id).toBeNull();
  });
});
