/** How the gate applies entitlements, at every endpoint that decides (interface §Entitlement). */
import { createHash } from 'node:crypto';
import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-node.ts';
import { type Deployment, newOrgId, randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const COMP_ORG = newOrgId();
const SELF_TEST_ORG = newOrgId();

const ENV = {
  SVC_PROVISION_KEYS: PROVISION_KEY,
  SVC_COMP_ORGS: COMP_ORG,
  SVC_SELF_TEST_ORGS: SELF_TEST_ORG,
};
const enforcing = withOwnDeployment({ ...ENV, SVC_ENTITLEMENTS: 'enforce' });
const logging = withOwnDeployment(ENV);

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();
const PUSH = {
  production: 'allowed',
  production_until: null,
  check_cap: null,
  cap_since: null,
  reason: 'paid',
  as_of: '2026-01-01T00:00:00Z',
};

const put = (orgId: string, change: object = {}, deployment = enforcing) =>
  deployment.call('PUT', `/orgs/${orgId}/entitlement`, {
    key: PROVISION_KEY,
    body: { ...PUSH, as_of: fromNow(0), ...change },
  });
const get = async (orgId: string, deployment = enforcing) =>
  (await deployment.call('GET', `/orgs/${orgId}/entitlement`, { key: PROVISION_KEY })).json;

const insertOrg = (orgId: string, { sql }: Deployment = enforcing) =>
  sql.query('insert into orgs (org_id, slug, name) values ($1, $2, $3)', [
    orgId,
    randomSlug('org'),
    'An org',
  ]);

/** An org with a relying party, and a function that verifies for it with a new Proof or a given one. */
const openOrg = async (deployment = enforcing, orgId?: string) => {
  const id = orgId ?? (await deployment.createOrg());
  const tenants = await deployment.createTenants({ orgId: id });
  const grant = await issueGrant(tenants);
  const send = async (body?: object) =>
    deployment.call('POST', '/verify', {
      key: tenants.rpKey,
      body: body ?? (await verifyBody(tenants, grant)),
    });
  return { orgId: id, tenants, grant, send };
};

const metric = async ({ process }: Deployment, outcome: string) => {
  const text = await (await fetch(`${process.adminUrl}/metrics`)).text();
  return Number(
    new RegExp(`svc_checks_without_plan_total{outcome="${outcome}"} (\\d+)`).exec(text)?.[1] ?? 0,
  );
};

beforeAll(async () => {
  await insertOrg(COMP_ORG);
  await insertOrg(SELF_TEST_ORG);
});

describe('where plans are enforced', () => {
  it('AuthZEN without a plan is 402, in a batch for each item; the same Proof is allowed once there is a plan', async () => {
    const { orgId, tenants, grant } = await openOrg();
    const { grant: presented, proof, action } = await verifyBody(tenants, grant);
    const asked = {
      subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
      action: { name: action.type, properties: { amount: action.amount, currency: action.currency } },
      resource: { type: 'order', id: action.resource },
    };
    const ask = (path: string, body: unknown) =>
      enforcing.call('POST', `/access/v1/${path}`, { key: tenants.rpKey, body });
    const single = await ask('evaluation', asked);
    expect([single.status, single.json.error]).toEqual([402, 'PLAN_REQUIRED']);
    const error = { status: 402, message: expect.stringContaining('no plan') };
    expect((await ask('evaluations', { evaluations: [asked] })).json).toEqual({
      evaluations: [{ decision: false, context: { error } }],
    });
    await put(orgId);
    expect((await ask('evaluation', asked)).json).toMatchObject({ decision: true });
  });

  it('forged Grants that name the sandbox as issuer are denied and counted, even for a blocked org', async () => {
    const { orgId, send } = await openOrg();
    await put(orgId, { check_cap: 5, cap_since: fromNow(-60_000), production: 'blocked' });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { tenants, grant } = await openOrg();
    const [head = '', payload = '', signature = ''] = (await verifyBody(tenants, grant)).grant.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const issuer = `did:web:${DOMAIN}:org:sandbox`;
    const kid = `${issuer}#key-1`;
    const header = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), kid };
    const forged = `${part(header)}.${part({ ...claims, issuer })}.${signature}`;
    for (let checks = 1; checks <= 3; checks++) {
      expect(receiptOf(await send({ grant: forged, proof: 'x', action: {} })).decision).toBe('DENY');
      expect((await get(orgId)).production_checks_since_cap).toBe(checks);
    }
  });

  it('/verify without a plan is 402 without a Receipt; the same Proof is allowed once there is a plan', async () => {
    const { orgId, tenants, grant, send } = await openOrg();
    const body = await verifyBody(tenants, grant);
    const refused = await send(body);
    expect(refused).toMatchObject({
      status: 402,
      json: { error: 'PLAN_REQUIRED', message: expect.stringContaining('this org has no plan') },
    });
    expect(Object.keys(refused.json)).toEqual(['error', 'message']);
    const { rows } = await enforcing.sql.query('select from receipts where relying_party = $1', [
      tenants.rpDid,
    ]);
    expect(rows).toEqual([]);
    await put(orgId);
    expect(receiptOf(await send(body)).decision).toBe('ALLOW');
    await put(orgId, { production: 'blocked' });
    expect((await send()).status).toBe(402);
    expect(await metric(enforcing, 'refused')).toBeGreaterThan(1);
  });

  it('the plan is checked before the Grant: a malformed Grant without a plan is 402', async () => {
    const { send } = await openOrg();
    expect((await send({ grant: 'x', proof: 'x', action: {} })).status).toBe(402);
  });

  it('denials count as checks, and a new cap_since resets the count', async () => {
    const { orgId, send } = await openOrg();
    const cap = { check_cap: 2, cap_since: fromNow(-60_000) };
    await put(orgId, cap);
    expect((await send({ grant: 'x', proof: 'x', action: {} })).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(402);
    const { json } = await put(orgId, { ...cap, cap_since: fromNow(1) });
    expect(json).toMatchObject({ production_checks_since_cap: 0, effective: 'allowed' });
    expect((await send()).status).toBe(200);
  });

  it('a stored answer is repeated for its Idempotency-Key even when the plan is blocked', async () => {
    const { orgId, tenants, grant } = await openOrg();
    await put(orgId);
    const request = {
      key: tenants.rpKey,
      body: await verifyBody(tenants, grant),
      headers: { 'idempotency-key': 'order-1' },
    };
    const first = await enforcing.call('POST', '/verify', request);
    await put(orgId, { production: 'blocked' });
    expect(await enforcing.call('POST', '/verify', request)).toMatchObject({ status: 200, text: first.text });
  });

  it.each([
    ['comp', COMP_ORG],
    ['self-test', SELF_TEST_ORG],
  ])('a %s org never needs a plan, and its checks are counted', async (_, orgId) => {
    const { send } = await openOrg(enforcing, orgId);
    expect((await send()).status).toBe(200);
    const { json } = await put(orgId, { production: 'blocked', check_cap: 0, cap_since: fromNow(-60_000) });
    expect(json).toMatchObject({ comp: true, effective: 'allowed', enforced: true });
    expect(json.effective_detail).toBe('this org never needs a plan');
    expect((await send()).status).toBe(200);
    expect((await get(orgId)).production_checks_since_cap).toBe(2);
  });

  it('a relying party outside every org needs no plan; after it joins an org it does', async () => {
    const tenants = await enforcing.createTenants();
    const grant = await issueGrant(tenants);
    const send = async () =>
      enforcing.call('POST', '/verify', { key: tenants.rpKey, body: await verifyBody(tenants, grant) });
    expect((await send()).status).toBe(200);
    const orgId = await enforcing.createOrg();
    const body = { did: tenants.rpDid };
    await enforcing.call('POST', `/orgs/${orgId}/members`, { key: ADMIN_TOKEN, body });
    expect((await send()).status).toBe(402);
  });

  it('sandbox Grants need no plan and are not counted; a forged one is denied and counted', async () => {
    const { orgId, tenants } = await openOrg();
    await put(orgId, { check_cap: 0, cap_since: fromNow(-60_000) });
    const sandbox = await insertSandbox(tenants);
    const grant = await sandbox.principal.grants.issue({
      agent: sandbox.agent.did,
      capabilities: [purchase({ maxAmountMinor: 1000, currency: 'USD', resources: ['order/*'] })],
    });
    const send = async (body: object) => enforcing.call('POST', '/verify', { key: tenants.rpKey, body });
    const body = await verifyBody(sandbox, grant);
    expect(receiptOf(await send(body)).decision).toBe('ALLOW');
    const forged = { ...body, grant: `${grant.grant.slice(0, -6)}AAAAAA` };
    expect((await get(orgId)).production_checks_since_cap).toBe(0);
    expect(receiptOf(await send(forged)).reason).toBe('GRANT_SIGNATURE_INVALID');
    expect((await get(orgId)).production_checks_since_cap).toBe(1);
    expect((await send(await verifyBody(tenants, await issueGrant(tenants)))).status).toBe(402);
  });

  it('registration of the slug sandbox is a 409', async () => {
    const keys = [(await generatePrincipalKey()).registration];
    const body = { kind: 'managed', slug: 'sandbox', keys };
    const { status, json } = await enforcing.call('POST', '/principals', { key: ADMIN_TOKEN, body });
    expect([status, json.error]).toEqual([409, 'CONFLICT']);
  });
});

describe('where plans are only logged', () => {
  it('no check is refused, every check is counted, and an org without a plan is logged once', async () => {
    const { orgId, send } = await openOrg(logging);
    for (const change of [null, { production: 'blocked' }, { check_cap: 1, cap_since: fromNow(-60_000) }]) {
      if (change !== null) await put(orgId, change, logging);
      expect((await send()).status).toBe(200);
      expect((await send()).status).toBe(200);
    }
    expect(await get(orgId, logging)).toMatchObject({
      production_checks_since_cap: 6,
      effective: 'blocked',
      enforced: false,
    });
    expect(await metric(logging, 'logged')).toBe(6);
    const told = logging.process.log.filter((line) => line.includes('entitlement.not_covered'));
    expect(told.map((line) => JSON.parse(line))).toMatchObject([
      { orgId, uncovered: 'this org has no plan' },
    ]);
  });
});

/** The sandbox's Principal as the service creates it, with the Agent of `tenants`. */
const insertSandbox = async (tenants: Tenants): Promise<Tenants> => {
  const did = `did:web:${DOMAIN}:org:sandbox`;
  const key = await generatePrincipalKey();
  const { publicKeyMultibase } = key.registration;
  const kid = `${did}#key-1`;
  const document = JSON.stringify({
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [{ id: kid, type: 'Multikey', controller: did, publicKeyMultibase }],
    assertionMethod: [kid],
  });
  const hash = `sha256:${createHash('sha256').update(document).digest('hex')}`;
  const { sql } = enforcing;
  await sql.query('insert into evidence (hash, content_type, body) values ($1, $2, $3)', [
    hash,
    'application/did+json',
    Buffer.from(document),
  ]);
  await sql.query(
    `insert into principals (did, kind, domain, slug, verification_state, verified_since, verification_token,
       may_be_named, document_hash, document_resolved_at)
     values ($1, 'managed', $2, 'sandbox', 'verified', now(), 'token', false, $3, now())`,
    [did, DOMAIN, hash],
  );
  await sql.query('insert into principal_keys (kid, principal, public_key_multibase) values ($1, $2, $3)', [
    kid,
    did,
    publicKeyMultibase,
  ]);
  const principalKey = await enforcing.createKey('principal', did);
  const principal = createPrincipalClient({
    baseUrl: enforcing.process.baseUrl,
    apiKey: principalKey,
    signer: signerFromJwk(key.privateJwk, kid),
  });
  return { ...tenants, principalDid: did, principalKey, principal };
};
