/** `GET /org/{slug}/did.json` (interface §Public). */
import { compactVerify, importJWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import { publicJwkOf } from '../../world/published-keys.ts';
import { type HeldGrant, issueGrant, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;
let sent: { grant: string; proof: string };

beforeAll(async () => {
  tenants = await deployment.createTenants();
  grant = await issueGrant(tenants);
  sent = await verifyBody(tenants, grant);
});

const get = (path: string) => deployment.call('GET', path);
const headerOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString());

describe('GET /org/{slug}/did.json', () => {
  it('serves the DID document of a managed Principal, whose key verifies its Grant with jose', async () => {
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

  it('is 404 for the slug of a relying party', async () => {
    expect((await get(`/org/${tenants.rpDid.split(':').at(-1)}/did.json`)).status).toBe(404);
  });
});
