/** What anybody may read (interface §Public): DID documents, status lists, evidence, health. */
import { createHash } from 'node:crypto';
import { compactVerify, importJWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-process.ts';
import { withDeployment } from '../world/deployment.ts';
import { publicJwkOf } from '../world/published-keys.ts';
import {
  type HeldGrant,
  issueGrant,
  type Receipt,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;
let sent: { grant: string; proof: string };
let receipt: Receipt;

beforeAll(async () => {
  tenants = await deployment.createTenants();
  grant = await issueGrant(tenants);
  sent = await verifyBody(tenants, grant);
  receipt = receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body: sent }));
});

const get = (path: string) => deployment.call('GET', path);
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const headerOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString());

describe('health', () => {
  it('says which deployment this is', async () => {
    expect((await get('/healthz')).json).toEqual({ ok: true, env: 'development', did: `did:web:${DOMAIN}` });
  });
});

describe('DID documents', () => {
  it("the service's: receipt and status keys; the key it names verifies the Receipt with jose, over the JCS body", async () => {
    const { json, headers } = await get('/.well-known/did.json');
    expect(headers).toMatchObject({
      'content-type': 'application/did+json',
      'cache-control': 'public, max-age=60',
    });
    const kids = ['receipt-1', 'status-1'].map((fragment) => `did:web:${DOMAIN}#${fragment}`);
    expect(json).toMatchObject({ id: `did:web:${DOMAIN}`, assertionMethod: kids });
    const header = headerOf(receipt.receipt);
    expect(header).toEqual({ alg: 'EdDSA', typ: 'svc-receipt+jwt', kid: kids[0] });
    const key = await importJWK(publicJwkOf(json, header.kid), 'EdDSA');
    const { payload } = await compactVerify(receipt.receipt, key);
    const { receipt: _jws, ...body } = receipt;
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(body);
  });

  it("a managed Principal's: where its DID resolves to; the key verifies its Grant with jose", async () => {
    const slug = tenants.principalDid.split(':').at(-1);
    const { json, headers } = await get(`/org/${slug}/did.json`);
    expect(headers['content-type']).toBe('application/did+json');
    expect(json.id).toBe(tenants.principalDid);
    const { kid } = headerOf(sent.grant);
    const { payload } = await compactVerify(sent.grant, await importJWK(publicJwkOf(json, kid), 'EdDSA'));
    expect(JSON.parse(new TextDecoder().decode(payload)).id).toBe(grant.grantId);
  });

  it.each([
    '/org/nobody/did.json',
    '/org/UPPER/did.json',
    '/org/a%2Fb/did.json',
    '/org/%00/did.json',
    '/org/did.json',
  ])('%s is 404', async (path) => {
    expect((await get(path)).json.error).toBe('NOT_FOUND');
  });

  it('a hosted Principal and a relying party have no document here', async () => {
    expect((await get(`/org/${tenants.rpDid.split(':').at(-1)}/did.json`)).status).toBe(404);
  });
});

describe('evidence', () => {
  const named = (): Record<string, string> => ({
    trust: receipt.evidence.trust_config_hash,
    profile: receipt.protocol.profile_hash,
    document: receipt.evidence.issuer_resolution?.did_document_hash ?? '',
    status: receipt.evidence.status?.credential_hash ?? '',
  });
  const TYPES: Record<string, string> = {
    trust: 'application/json',
    profile: 'application/json',
    document: 'application/did+json',
    status: 'application/vc+jwt',
  };

  it.each(Object.keys(TYPES))(
    'the %s that a Receipt names is served for ever, and hashes to its name',
    async (what) => {
      const hash = named()[what] ?? '';
      for (const path of [
        `/evidence/${hash}`,
        `/evidence/${hash.slice('sha256:'.length)}`,
        `/evidence/${encodeURIComponent(hash)}`,
      ]) {
        const { status, text, headers } = await get(path);
        expect([status, sha256(text)]).toEqual([200, hash]);
        expect(headers).toMatchObject({
          'content-type': TYPES[what],
          'cache-control': 'public, max-age=31536000, immutable',
          'content-security-policy': "default-src 'none';frame-ancestors 'none';sandbox",
        });
      }
    },
  );

  it("the Receipt's DID document and status list are the ones that are published", async () => {
    const { document, status } = named();
    const slug = tenants.principalDid.split(':').at(-1);
    expect(sha256((await get(`/org/${slug}/did.json`)).text)).toBe(document);
    const { pathname } = new URL(receipt.evidence.status?.credential_url ?? '');
    expect(sha256((await get(pathname)).text)).toBe(status);
  });

  it('a status list that has been superseded stays', async () => {
    const { status } = named();
    await tenants.principal.grants.revoke((await issueGrant(tenants)).grantId);
    expect(sha256((await get(`/evidence/${status}`)).text)).toBe(status);
  });

  it('Grants and Proofs are never served, nor stored under any hash', async () => {
    for (const secret of [sent.grant, sent.proof]) {
      expect((await get(`/evidence/${sha256(secret)}`)).status).toBe(404);
      const { rows } = await deployment.sql.query(
        'select 1 from evidence where position($1::bytea in body) > 0',
        [Buffer.from(secret)],
      );
      expect(rows).toEqual([]);
    }
    expect((await get(`/evidence/${receipt.grant_hash}`)).status).toBe(404);
    expect((await get(`/evidence/${receipt.proof_hash}`)).status).toBe(404);
  });

  it.each([
    '0'.repeat(64),
    `sha256:${'0'.repeat(64)}`,
    'x',
    'A'.repeat(64),
    '0'.repeat(63),
    `sha512:${'0'.repeat(64)}`,
    `sha256:sha256:${'0'.repeat(64)}`,
    '%00',
  ])('/evidence/%s is 404', async (hash) => {
    expect((await get(`/evidence/${hash}`)).json.error).toBe('NOT_FOUND');
  });

  it('nothing can be put there, so no page of anybody is ever served from here', async () => {
    const page = '<script>alert(1)</script>';
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await deployment.call(method, `/evidence/${sha256(page)}`, { rawBody: page })).status).toBe(
        405,
      );
    expect((await get(`/evidence/${sha256(page)}`)).status).toBe(404);
    const { rows } = await deployment.sql.query('select distinct content_type from evidence');
    expect(rows.map(({ content_type: type }) => type).sort()).toEqual(
      [...new Set(Object.values(TYPES))].sort(),
    );
  });
});

describe('status lists', () => {
  it("a hosted Principal's list is found whichever way its port is written", async () => {
    const { key } = await deployment.register('/principals', {
      kind: 'hosted',
      did: 'did:web:localhost%3A4711',
    });
    const { json } = await deployment.call('POST', '/grants', { key, body: { agent: tenants.agent.did } });
    const entry = json.credentialStatus as { statusListCredential: string };
    expect(entry.statusListCredential).toBe(`http://${DOMAIN}/status-lists/localhost%3A4711/1`);
    const texts = [];
    for (const domain of ['localhost%3A4711', 'localhost:4711', 'localhost%253A4711'])
      texts.push((await get(`/status-lists/${domain}/1`)).text);
    expect(new Set(texts).size).toBe(1);
    expect(headerOf(texts[0] ?? '').typ).toBe('vc+jwt');
  });
});
