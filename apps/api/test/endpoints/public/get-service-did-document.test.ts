/** `GET /.well-known/did.json` (interface §Public). */
import { compactVerify, importJWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { publicJwkOf } from '../../world/published-keys.ts';
import {
  type HeldGrant,
  issueGrant,
  type Receipt,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../../world/tenants.ts';

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
const headerOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString());

describe('GET /.well-known/did.json', () => {
  it('lists the receipt and status keys; the receipt key verifies a Receipt with jose, and the payload is its body', async () => {
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
});
