/** `GET /evidence/{hash}` (interface §Public). */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import {
  type HeldGrant,
  issueGrant,
  type Receipt,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../../world/tenants.ts';

const deployment = withOwnDeployment();
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

describe('GET /evidence/{hash}', () => {
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
    'serves the %s that a Receipt names as immutable, and the bytes have the hash of the name',
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

  it('has the DID document and status list of the Receipt as they are published', async () => {
    const { document, status } = named();
    const slug = tenants.principalDid.split(':').at(-1);
    expect(sha256((await get(`/org/${slug}/did.json`)).text)).toBe(document);
    const { pathname } = new URL(receipt.evidence.status?.credential_url ?? '');
    expect(sha256((await get(pathname)).text)).toBe(status);
  });

  it('still serves a status list that has been superseded', async () => {
    const { status } = named();
    await tenants.principal.grants.revoke((await issueGrant(tenants)).grantId);
    expect(sha256((await get(`/evidence/${status}`)).text)).toBe(status);
  });

  it('never serves Grants and Proofs, which are not stored under any hash', async () => {
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

  it('accepts no uploads (405); only the four content types of the service are stored', async () => {
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
