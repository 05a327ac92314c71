/** `POST /principals`, kind hosted: registered unverified, and refused where the service itself is the domain. */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-node.ts';
import { contractFetch } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { productionEnv } from '../world/production.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const development = withOwnDeployment();
const production = withOwnDeployment(productionEnv());

const create = (deployment: typeof development, did: string, more: object = {}) =>
  deployment.call('POST', '/principals', { key: ADMIN_TOKEN, body: { kind: 'hosted', did, ...more } });
const newDid = (tail = '') => `did:web:${randomSlug('h')}.example${tail}`;

describe('POST /principals, kind hosted', () => {
  it('answers that the domain is unverified, and how to prove it', async () => {
    const host = `${randomSlug('h')}.example`;
    const did = `did:web:${host}:teams:buying`;
    const { json } = await create(development, did);
    const token = (json.verification as { token: string }).token;
    expect(json).toMatchObject({
      did,
      kind: 'hosted',
      domain: host,
      org_id: null,
      may_be_named: false,
      did_document_resolved: false,
      verification: {
        state: 'unverified',
        dns_txt: { name: `_svc-challenge.${host}`, value: `svc-verification=${token}` },
        well_known: { url: `https://${host}/.well-known/svc-verification.json`, body: { did, token } },
        did_document_url: `https://${host}/teams/buying/did.json`,
      },
    });
  });

  it('expects the document of a DID without a path at /.well-known/did.json', async () => {
    const did = newDid();
    expect((await create(development, did)).json.verification).toMatchObject({
      did_document_url: `https://${did.slice('did:web:'.length)}/.well-known/did.json`,
    });
  });

  it('gives every Principal a different verification token', async () => {
    const tokens = new Set();
    for (const did of [newDid(), newDid()])
      tokens.add(((await create(development, did)).json.verification as { token: string }).token);
    expect(tokens.size).toBe(2);
  });
});

it('Grants of an unverified Principal are denied with ISSUER_UNVERIFIED', async () => {
  const managed: Tenants = await development.createTenants();
  const { did, key: apiKey } = await development.register('/principals', { kind: 'hosted', did: newDid() });
  const { privateJwk } = await generatePrincipalKey();
  const signer = signerFromJwk(privateJwk, `${did}#key-1`);
  const { baseUrl } = development.process;
  const principal = createPrincipalClient({ baseUrl, apiKey, signer, fetch: contractFetch });
  const tenants = { ...managed, principalDid: did, principalKey: apiKey, principal };
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const receipt = receiptOf(await development.call('POST', '/verify', { key: tenants.rpKey, body }));
  expect(receipt).toMatchObject({ decision: 'DENY', reason: 'ISSUER_UNVERIFIED' });
  expect(receipt.trust.checks).toMatchObject({ T1: true, T2: false });
  expect(receipt).not.toHaveProperty('principal');
});

describe('registration is a 409 for', () => {
  it('a DID that is already registered', async () => {
    const did = newDid();
    expect((await create(development, did)).status).toBe(201);
    expect((await create(development, did)).json.error).toBe('CONFLICT');
  });

  it.each([
    `did:web:${DOMAIN}`,
    `did:web:${DOMAIN}:org:x`,
    `did:web:status.${DOMAIN}`,
    `did:web:${DOMAIN}%3A8080:a`,
  ])('%s, which is under the domain of the service', async (did) => {
    expect((await create(development, did)).json.error).toBe('CONFLICT');
  });
});

describe('a port in the DID', () => {
  it('is accepted in development', async () => {
    const port = 10_000 + Math.floor(Math.random() * 50_000);
    const { json } = await create(development, `did:web:localhost%3A${port}`);
    expect(json).toMatchObject({
      domain: `localhost%3A${port}`,
      verification: {
        dns_txt: { name: '_svc-challenge.localhost' },
        did_document_url: `http://localhost:${port}/.well-known/did.json`,
      },
    });
  });

  it('is refused in production, for relying parties too', async () => {
    expect((await create(production, 'did:web:shop.example%3A8443')).json.error).toBe('INVALID_REQUEST');
    const body = { kind: 'hosted', did: 'did:web:shop.example%3A8443' };
    expect((await production.call('POST', '/relying-parties', { key: ADMIN_TOKEN, body })).status).toBe(400);
    expect((await create(production, newDid())).status).toBe(201);
  });

  it('production sets env in /healthz and sends Strict-Transport-Security', async () => {
    const { json, headers } = await production.call('GET', '/healthz');
    expect(json).toEqual({ ok: true, env: 'production', did: `did:web:${DOMAIN}` });
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
  });
});

describe('registration is a 400 with', () => {
  it.each([
    'did:web:',
    'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    'did:web:UPPER.example',
    'did:web:a_b.example',
    'did:web:127.0.0.1',
    'did:web:0x7f.1',
    'did:web:[::1]',
    'did:web:a.example:..',
    'did:web:a.example::b',
    'did:web:a.example#key-1',
    'did:web:a.example/path',
    'did:web:a.example%3A0',
    'did:web:a.example%3A65536',
    'did:web:a.example%3a80',
    'did:web:a.example%2Fb',
    'did:web:a.example.',
    `did:web:${'a'.repeat(64)}.example`,
  ])('%s', async (did) => {
    expect((await create(development, did)).json.error).toBe('INVALID_REQUEST');
  });

  it.each([[{ slug: 'a' }], [{ keys: [] }], [{ more: 1 }], [{ did: undefined }]])('%j', async (change) => {
    expect((await create(development, newDid(), change)).status).toBe(400);
  });
});
