/** `POST /principals`, kind managed (interface §Principal, §Onboarding). */
import { encodeMultikey } from '@svc/protocol';
import { generatePrincipalKey } from '@svc/sdk-principal';
import { smallOrderEncodings } from '@svc/testkit/edwards';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { newOrgId, randomSlug, withDeployment } from '../../world/deployment.ts';

/**
 * A point with a component of small order, which one form of the verification equation accepts and the other refuses.
 */
const MIXED_ORDER = Buffer.from('cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d', 'hex');

const deployment = withDeployment();
let orgId: string;
let publicKey: string;
/** An org:admin key for each test, since the operator's token has one rate limit for all of them. */
const orgAdmin = () => deployment.createKey('org:admin', orgId);

beforeAll(async () => {
  orgId = await deployment.createOrg();
  publicKey = (await generatePrincipalKey()).publicKeyMultibase;
});

const create = async (body: object, key?: string) =>
  deployment.call('POST', '/principals', { key: key ?? (await orgAdmin()), body });
const managed = (more: object = {}) => ({
  kind: 'managed',
  slug: randomSlug('p'),
  keys: [{ publicKeyMultibase: publicKey }],
  ...more,
});

describe('POST /principals answers 201', () => {
  it('with every field of PrincipalCreated', async () => {
    const slug = randomSlug('p');
    const { json } = await create(managed({ slug }), ADMIN_TOKEN);
    const did = `did:web:${DOMAIN}:org:${slug}`;
    const token = (json.verification as { token: string }).token;
    expect(json).toEqual({
      did,
      kind: 'managed',
      domain: DOMAIN,
      verification: {
        state: 'verified',
        token: expect.stringMatching(/^[A-Za-z0-9_-]{32}$/),
        dns_txt: { name: `_svc-challenge.${DOMAIN}`, value: `svc-verification=${token}` },
        well_known: { url: `https://${DOMAIN}/.well-known/svc-verification.json`, body: { did, token } },
        reverified_every_hours: 24,
        did_document_url: `https://${DOMAIN}/org/${slug}/did.json`,
      },
      created_at: expect.any(String),
      org_id: null,
      may_be_named: false,
      did_document_resolved: true,
      api_key: expect.stringMatching(/^dk_principal_[0-9A-Za-z]{49}$/),
      api_key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  it('with an API key that works at once and has the returned key id, for the new Principal', async () => {
    const { json } = await create(managed());
    const me = await deployment.call('GET', '/me', { key: String(json.api_key) });
    expect(me.json).toMatchObject({ subject: json.did, key_id: json.api_key_id, role: 'principal' });
  });

  it.each([
    [[undefined], ['key-1']],
    [
      [undefined, undefined, undefined, undefined, undefined],
      ['key-1', 'key-2', 'key-3', 'key-4', 'key-5'],
    ],
    [
      ['main', undefined, 'key-9'],
      ['main', 'key-2', 'key-9'],
    ],
  ])('and publishes keys with the ids %j as %j', async (ids, fragments) => {
    const keys: { publicKeyMultibase: string }[] = [];
    for (const id of ids)
      keys.push((await generatePrincipalKey(id === undefined ? {} : { id })).registration);
    const slug = randomSlug('p');
    const { json } = await create(managed({ slug, keys }));
    const document = (await deployment.call('GET', `/org/${slug}/did.json`)).json;
    expect(document?.verificationMethod).toEqual(
      fragments.map((fragment, i) => ({
        id: `${json.did}#${fragment}`,
        type: 'Multikey',
        controller: json.did,
        publicKeyMultibase: keys[i]?.publicKeyMultibase,
      })),
    );
    expect(document?.assertionMethod).toEqual(fragments.map((fragment) => `${json.did}#${fragment}`));
  });

  it.each(['a', '0', 'a-b', `a${'-'.repeat(61)}z`])('for slug %s', async (slug) => {
    expect((await create(managed({ slug }))).status).toBe(201);
  });

  it("to an org:admin key for its own org, and to the operator's token for any org", async () => {
    expect((await create(managed())).json.org_id).toBe(orgId);
    expect((await create(managed({ org_id: orgId }))).json.org_id).toBe(orgId);
    expect((await create(managed({ org_id: orgId }), ADMIN_TOKEN)).json.org_id).toBe(orgId);
  });
});

describe('POST /principals answers 400', () => {
  it.each([
    ['no kind', { kind: undefined }],
    ['an unknown kind', { kind: 'other' }],
    ['no slug', { slug: undefined }],
    ...['', 'A', '-a', 'a-', 'a_b', 'a.b', 'é', 'a\n', 'a'.repeat(64)].map((slug) => [
      `slug ${JSON.stringify(slug)}`,
      { slug },
    ]),
    ['no keys', { keys: undefined }],
    ['an empty list of keys', { keys: [] }],
    ['a did', { did: 'did:web:a.example' }],
    ['an unknown member', { more: 1 }],
    ['org_id null', { org_id: null }],
    ['org_id malformed', { org_id: 'org_1' }],
  ] as [string, object][])('to this body: %s', async (_name, change) => {
    expect((await create(managed(change))).json.error).toBe('INVALID_REQUEST');
  });

  it('to six keys', async () => {
    const keys: object[] = [];
    for (let i = 0; i < 6; i++) keys.push((await generatePrincipalKey()).registration);
    expect((await create(managed({ keys }))).status).toBe(400);
  });

  it.each([[['a', 'a']], [['key-2', undefined]]])(
    'to the key ids %j, which resolve to the same id twice',
    async (ids) => {
      const keys: object[] = [];
      for (const id of ids)
        keys.push((await generatePrincipalKey(id === undefined ? {} : { id })).registration);
      expect((await create(managed({ keys }))).status).toBe(400);
    },
  );

  it('to one public key under two ids, because a compromise of one would leave the other', async () => {
    const keys = ['a', 'b'].map((id) => ({ id, publicKeyMultibase: publicKey }));
    expect((await create(managed({ keys }))).status).toBe(400);
  });

  it.each(['', '#key', 'a b', 'a#b', 'é', '-a', 'a'.repeat(65)])('to the key id %j', async (id) => {
    expect((await create(managed({ keys: [{ id, publicKeyMultibase: publicKey }] }))).status).toBe(400);
  });

  it('to every small-order, mixed-order or non-canonical public key', async () => {
    const beyondP = new Uint8Array(32).fill(255);
    for (const key of [...smallOrderEncodings(), MIXED_ORDER, beyondP]) {
      const { status, json } = await create(managed({ keys: [{ publicKeyMultibase: encodeMultikey(key) }] }));
      expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    }
  });

  it.each(['', 'z6Mk', 'z6Mkxyz', 'u7QE', 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme'])(
    'to the public key %j',
    async (publicKeyMultibase) => {
      expect((await create(managed({ keys: [{ publicKeyMultibase }] }))).status).toBe(400);
    },
  );

  it('to an org that does not exist', async () => {
    expect((await create(managed({ org_id: newOrgId() }), ADMIN_TOKEN)).status).toBe(400);
  });
});

it('POST /principals answers 403 to an org:admin key that names another org', async () => {
  const foreign = await deployment.createOrg();
  expect((await create(managed({ org_id: foreign }))).json.error).toBe('FORBIDDEN');
});

it('POST /principals answers 409 to a reserved slug, except from the operator; the sandbox slug is refused to all', async () => {
  for (const slug of ['support', 'billing', 'sandbox'])
    expect((await create(managed({ slug }))).json).toMatchObject({
      ...{ error: 'CONFLICT', message: `slug: ${slug} is reserved.` },
    });
  expect((await create(managed({ slug: 'support' }), ADMIN_TOKEN)).status).toBe(201);
  expect((await create(managed({ slug: 'sandbox' }), ADMIN_TOKEN)).status).toBe(409);
});

it('POST /principals answers 409 to a taken slug and stores nothing: no document, signing key, API key or audit event', async () => {
  const slug = randomSlug('p');
  const first = await create(managed({ slug }));
  expect(first.status).toBe(201);
  const { did } = first.json;
  const stored = async () => ({
    document: (await deployment.call('GET', `/org/${slug}/did.json`)).text,
    ...(
      await deployment.sql.query(
        `select (select to_jsonb(p) from principals p where did = $1) as principal,
           (select jsonb_agg(k) from principal_keys k where principal = $1) as keys,
           (select jsonb_agg(a order by event_id) from audit_events a where target = $1) as events,
           (select count(*) from api_keys) as api_keys,
           (select count(*) from evidence) as documents`,
        [did],
      )
    ).rows[0],
  });
  const before = await stored();
  expect(before).toMatchObject({ keys: [{ public_key_multibase: publicKey }], events: [{ target: did }] });
  const { registration } = await generatePrincipalKey({ id: 'second' });
  const second = await create(managed({ slug, keys: [registration], org_id: orgId }), ADMIN_TOKEN);
  expect(second.json).toMatchObject({ error: 'CONFLICT' });
  expect(await stored()).toEqual(before);
});
