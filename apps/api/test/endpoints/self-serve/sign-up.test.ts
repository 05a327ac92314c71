/** `POST /orgs/self-serve` (interface §Self-serve and sandbox records, protocol §13). Who may call: access matrix. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { parseGrant, parseProof } from '@svc/protocol';
import { verifyReceipt } from '@svc/receipts';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { randomSlug } from '../../world/deployment.ts';
import { PROVISION_KEY, requestOf, withSelfServe } from '../../world/self-serve.ts';

const { deployment, send, signUp, verify } = withSelfServe();

describe('POST /orgs/self-serve', () => {
  it('creates an org, its key, a relying party, its key and a starter', async () => {
    const slug = randomSlug('t');
    const bundle = await signUp({ slug, name: 'Köln 🛒' });
    const did = `did:web:${DOMAIN}:rp:${slug}`;
    expect(bundle).toEqual({
      org: {
        org_id: expect.stringMatching(/^org_/),
        slug,
        name: 'Köln 🛒',
        created_at: expect.any(String),
      },
      org_admin_key: expect.stringMatching(/^dk_org_admin_/),
      relying_party: { did, name: 'Köln 🛒', profile: 'svc-base-v1', proof_window_seconds: 300 },
      rp_verify_key: expect.stringMatching(/^dk_rp_/),
      starter: {
        grant: expect.any(String),
        proof: expect.any(String),
        action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 1_000, currency: 'USD' },
        grant_id: expect.stringMatching(/^urn:svc:grant:/),
        expires_at: expect.any(String),
        verify_url: `http://${DOMAIN}/verify`,
        verify_curl: expect.stringContaining('<rp_verify_key>'),
      },
    });
    const byOrg = await deployment.call('GET', '/me', { key: bundle.org_admin_key });
    expect(byOrg.json).toMatchObject({ role: 'org:admin', subject: bundle.org.org_id, members: [{ did }] });
    const byRp = await deployment.call('GET', '/me', { key: bundle.rp_verify_key });
    expect(byRp.json).toMatchObject({ role: 'rp', subject: did, org_id: bundle.org.org_id });
  });

  it('issues as starter a Grant of the sandbox Principal for this relying party and a new Agent', async () => {
    const { starter, relying_party: relyingParty } = await signUp();
    const grant = parseGrant(starter.grant);
    const proof = parseProof(starter.proof);
    if (!grant.ok || !proof.ok) throw new Error('malformed');
    expect(grant.value).toMatchObject({
      id: starter.grant_id,
      issuer: `did:web:${DOMAIN}:org:sandbox`,
      audience: [relyingParty.did],
      capabilities: [
        {
          action: 'commerce:purchase',
          constraints: { maxAmount: 5_000, currency: 'USD' },
          resources: ['sandbox/**'],
        },
      ],
    });
    expect(grant.value.validUntilMs - grant.value.validFromMs).toBe(3_600_000);
    expect(proof.value).toMatchObject({ audience: relyingParty.did, agent: grant.value.agent });
    expect(proof.value.action).toEqual(starter.action);
    expect(Date.parse(String(starter.expires_at))).toBe((proof.value.iatSeconds + 300) * 1000);
    const other = parseGrant((await signUp()).starter.grant);
    expect(other.ok && other.value.agent).not.toBe(grant.value.agent);
  });

  it('issues a starter that this tenant can verify once; another relying party gets AUDIENCE_MISMATCH', async () => {
    const tenant = await signUp({}, { node: 1 });
    const neighbour = await signUp();
    expect(await verify(tenant.starter, neighbour.rp_verify_key)).toMatchObject({
      reason: 'AUDIENCE_MISMATCH',
    });
    const receipt = await verify(tenant.starter, tenant.rp_verify_key);
    expect(receipt).toMatchObject({ decision: 'ALLOW', relying_party: tenant.relying_party.did });
    const { json: didDocument } = await deployment.call('GET', '/.well-known/did.json');
    expect(verifyReceipt(receipt, didDocument).ok).toBe(true);
    expect(await verify(tenant.starter, tenant.rp_verify_key)).toMatchObject({ reason: 'PROOF_REPLAYED' });
  });

  const hasCurl = existsSync('/usr/bin/curl') && existsSync('/bin/sh');
  if (!hasCurl) console.warn('SKIPPED: verify_curl in a shell, because there is no curl');
  it.skipIf(!hasCurl)(
    'issues a verify_curl command that gets an ALLOW once the key is filled in',
    async () => {
      const { starter, rp_verify_key: key } = await signUp();
      const { baseUrl } = deployment.process;
      const command = starter.verify_curl
        .replace('<rp_verify_key>', key)
        .replace(`http://${DOMAIN}/verify`, `${baseUrl}/verify`);
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
      expect(JSON.parse(stdout)).toMatchObject({ decision: 'ALLOW' });
    },
  );

  it('needs no plan: without one, sandbox checks are allowed and not counted, and other checks get 402', async () => {
    const tenant = await signUp();
    const { org } = tenant;
    const entitlement = async () =>
      (await deployment.call('GET', `/orgs/${org.org_id}/entitlement`, { key: PROVISION_KEY })).json;
    expect(await entitlement()).toMatchObject({ enforced: true, effective: 'blocked' });
    expect(await verify(tenant.starter, tenant.rp_verify_key)).toMatchObject({ decision: 'ALLOW' });
    const first = await send('/first-receipt', { rp_did: tenant.relying_party.did });
    expect(first.json).toMatchObject({ decision: 'ALLOW' });
    const { rows } = await deployment.sql.query(
      'select count(*)::int as n from receipts where relying_party = $1 and production_check',
      [tenant.relying_party.did],
    );
    expect(rows).toEqual([{ n: 0 }]);
    const refused = await deployment.call('POST', '/verify', {
      key: tenant.rp_verify_key,
      body: { grant: '', proof: '', action: {} },
    });
    expect(refused.status).toBe(402);
  });

  it('is audited as done by the system; the tenant sees only its own events, and nobody sees the email', async () => {
    const email = `${randomSlug('private')}@tenant.example`;
    const tenant = await signUp({ admin_email: email });
    await signUp();
    const audit = async (query: string) =>
      (await deployment.call('GET', `/audit?${query}`, { key: ADMIN_TOKEN })).text;
    const trail = await audit(`target=${tenant.relying_party.did}`);
    expect(JSON.parse(trail).events).toMatchObject([
      {
        action: 'relying_party.create',
        actor: { kind: 'system', did: null },
        details: { kind: 'managed', org_id: tenant.org.org_id },
      },
    ]);
    const own = await deployment.call('GET', '/audit', { key: tenant.org_admin_key });
    const actions = (own.json.events as { action: string }[]).map(({ action }) => action);
    expect(actions.toSorted()).toEqual(['api_key.create', 'relying_party.create']);
    const { rows } = await deployment.sql.query(
      'select admin_email from self_serve_tenants where org_id = $1',
      [tenant.org.org_id],
    );
    expect(rows).toEqual([{ admin_email: email }]);
    const texts = [JSON.stringify(tenant), await audit('limit=200'), deployment.process.log.join('\n')];
    for (const path of [`/orgs/${tenant.org.org_id}`, '/me', '/audit'])
      texts.push((await deployment.call('GET', path, { key: tenant.org_admin_key })).text);
    expect(texts.filter((text) => text.includes(email))).toEqual([]);
  });

  it.each([
    ['no slug', { slug: undefined }],
    ['an empty slug', { slug: '' }],
    ['a slug in capitals', { slug: 'Acme' }],
    ['a slug that ends with a hyphen', { slug: 'acme-' }],
    ['a slug of 64 characters', { slug: 'a'.repeat(64) }],
    ['an empty name', { name: '' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['no email', { admin_email: undefined }],
    ['an email without a host', { admin_email: 'admin@' }],
    ['an email without a dot', { admin_email: 'admin@localhost' }],
    ['two emails', { admin_email: 'a@b.example,c@d.example' }],
    ['an email with a line break', { admin_email: 'a@b.example\n' }],
    ['an email of 201 characters', { admin_email: `${'a'.repeat(189)}@tenant.test` }],
    ['an unknown member', { plan: 'free' }],
  ])('is refused with 400: %s', async (_, change) => {
    const { status, json } = await send('', requestOf(change));
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(`body.${Object.keys(change)[0]}`);
  });

  it.each([
    { slug: `a${'-'.repeat(61)}a` },
    { name: 'x'.repeat(200) },
    { admin_email: `${'a'.repeat(188)}@tenant.test` },
    { admin_email: 'müller+svc@köln.example' },
  ])('accepts %j', async (change) => {
    expect((await send('', requestOf(change))).status).toBe(201);
  });

  it.each(['sandbox', 'admin', 'api', 'svc', 'www'])('answers 409 to the reserved slug %s', async (slug) => {
    expect((await send('', requestOf({ slug }))).status).toBe(409);
  });

  it('answers 409 to a slug of an org or a relying party, and creates neither', async () => {
    const [ofOrg, ofRp] = [randomSlug('t'), randomSlug('t')];
    await deployment.call('POST', '/orgs', { key: ADMIN_TOKEN, body: { slug: ofOrg, name: 'An org' } });
    await deployment.register('/relying-parties', { kind: 'managed', slug: ofRp });
    for (const slug of [ofOrg, ofRp]) {
      const { status, json } = await send('', requestOf({ slug }));
      expect([status, json.message]).toEqual([409, `slug: ${slug} is taken.`]);
    }
    const { rows } = await deployment.sql.query(
      `select (select count(*) from orgs where slug = $1)::int as orgs,
        (select count(*) from relying_parties where slug = $2)::int as rps`,
      [ofRp, ofOrg],
    );
    expect(rows).toEqual([{ orgs: 0, rps: 0 }]);
  });

  it('succeeds once for 16 concurrent calls with one slug on two nodes; the others get 409', async () => {
    const slug = randomSlug('t');
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => send('', requestOf({ slug }), { node: i % 2 })),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, ...Array(15).fill(409)]);
  });
});
