/** A Principal whose domain is not proven sees the denials of its Grants (interface §GET /usage, §DecisionStats). */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { afterAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractFetch } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { DID_DOCUMENT, didDocument, startPrincipalHost } from '../world/principal-host.ts';
import { issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const did = `did:web:${name}`;
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }) });

const get = async (path: string, key: string) => (await deployment.call('GET', path, { key })).json;

it('usage of an unverified Principal counts ISSUER_UNVERIFIED only with a valid signature; statistics count it under null', async () => {
  const key = await generatePrincipalKey();
  host.pages.set(DID_DOCUMENT, didDocument(did, [key.registration]));
  const registered = await deployment.register('/principals', { kind: 'hosted', did });
  const others = await deployment.createTenants();
  const tenants = {
    ...others,
    principalDid: did,
    principalKey: registered.key,
    principal: createPrincipalClient({
      baseUrl: deployment.process.baseUrl,
      apiKey: registered.key,
      signer: signerFromJwk(key.privateJwk, `${did}#key-1`),
      fetch: contractFetch,
    }),
  };
  const grant = await issueGrant(tenants);
  const [head, payload, signature = ''] = grant.grant.split('.');
  const forged = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  for (const presented of [grant.grant, forged]) {
    const body = { ...(await verifyBody(tenants, grant)), grant: presented };
    const receipt = receiptOf(await deployment.call('POST', '/verify', { key: others.rpKey, body }));
    expect(receipt).toMatchObject({ decision: 'DENY', reason: 'ISSUER_UNVERIFIED' });
    expect(receipt.protocol.checks.P3).toBe(presented === grant.grant);
  }

  const usage = await get('/usage', registered.key);
  expect(usage.totals).toEqual({ verifies: 1, allow: 0, deny: 1 });
  const days = usage.days as { reasons: object }[];
  expect(days.at(-1)?.reasons).toEqual({ ISSUER_UNVERIFIED: 1 });
  expect((await get('/decisions/stats', ADMIN_TOKEN)).principals).toEqual([
    expect.objectContaining({ principal: null, verifies: 2, reasons: { ISSUER_UNVERIFIED: 2 } }),
  ]);
  const ofPrincipal = await get(`/decisions/stats?principal=${encodeURIComponent(did)}`, ADMIN_TOKEN);
  expect(ofPrincipal.principals).toEqual([]);
});
