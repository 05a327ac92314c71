/** `POST /claims/{did}/transfer` (protocol §13, Claims). */
import type { DidWeb, OrgId } from '@svc/protocol';
import { transferDid } from '@svc/service';
import { newAuditId } from '@svc/testkit/store/world';
import { afterAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { newOrgId, randomSlug, withOwnDeployment } from '../../world/deployment.ts';
import { createHostedTenants } from '../../world/hosted-tenants.ts';
import { PROOF, startPrincipalHost } from '../../world/principal-host.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const did = `did:web:${name}`;
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }) });

const transfer = (of: string, kind: string, orgId: string | null) =>
  deployment.call('POST', `/claims/${encodeURIComponent(of)}/transfer`, {
    key: ADMIN_TOKEN,
    body: { kind, org_id: orgId },
  });
const newOrg = async () => {
  const orgId = await deployment.createOrg();
  return { orgId, key: await deployment.createKey('org:admin', orgId) };
};
const createHosted = async (orgKey: string) =>
  createHostedTenants(deployment, { host, name }, orgKey, await deployment.createTenants());
const me = async (key: string) => (await deployment.call('GET', '/me', { key })).status;

it('The transfer of a hosted Principal makes keys of the former org invalid and requires a new domain token', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const { body, key } = await deployment.register('/principals', { kind: 'hosted', did }, former.key);
  const { token } = body.verification as { token: string };
  host.pages.set(PROOF, { did, token });
  await deployment.call('POST', `/principals/${did}/verify`, { key });

  expect((await transfer(did, 'principal', next.orgId)).json).toEqual({
    did,
    kind: 'principal',
    org_id: next.orgId,
  });
  expect([
    await me(key),
    (await deployment.call('POST', `/principals/${did}/verify`, former)).status,
  ]).toEqual([401, 404]);
  const { json } = await deployment.call('POST', `/principals/${did}/verify`, { key: next.key });
  expect(json.verification).toMatchObject({ state: 'unverified' });
  expect((json.verification as { token: string }).token).not.toBe(token);
  const { json: issued } = await deployment.call('POST', `/api-keys?subject=${did}`, {
    key: next.key,
    body: {},
  });
  expect(await me(String(issued.api_key))).toBe(200);
});

it('A transfer is audited once to both orgs without naming the other org, also in the format of version 0.3.0', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const { principalDid } = await createHosted(former.key);
  for (let calls = 0; calls < 2; calls++)
    expect((await transfer(principalDid, 'principal', next.orgId)).status).toBe(200);
  const query = `action=principal.verify&target=${encodeURIComponent(principalDid)}`;
  const seenWith = async (key: string) => {
    const { json } = await deployment.call('GET', `/audit?${query}`, { key });
    return (json.events as { details: { claim?: string } }[])
      .map(({ details }) => details)
      .filter(({ claim }) => claim);
  };
  const sides = [
    [former, 'from_org'],
    [next, 'to_org'],
  ] as const;
  for (const [{ key, orgId }, side] of sides)
    expect(await seenWith(key)).toEqual([{ claim: 'transferred', [side]: orgId }]);
  // Members that 0.3.0 writes, for each of the two orgs.
  const both = { claim: 'transferred', from_org: former.orgId, to_org: next.orgId };
  for (const [{ orgId }] of sides)
    await deployment.process.service.store.audit.insert({
      eventId: newAuditId(),
      actor: { kind: 'admin', did: null, keyId: null },
      ...{ action: 'principal.verify', target: principalDid, requestId: null },
      orgId: orgId as OrgId,
      details: both,
    });
  for (const [{ key, orgId }, side] of sides)
    expect(await seenWith(key)).toEqual(Array(2).fill({ claim: 'transferred', [side]: orgId }));
  expect(await seenWith(ADMIN_TOKEN)).toContainEqual(both);
});

it('The transfer of a relying party of an org succeeds without decisions and is refused as CONFLICT with decisions', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const fresh = await deployment.createTenants({ orgId: former.orgId });
  expect((await transfer(fresh.rpDid, 'relying_party', next.orgId)).status).toBe(200);
  expect(await me(fresh.rpKey)).toBe(401);

  const busy = await deployment.createTenants({ orgId: former.orgId });
  const body = await verifyBody(busy, await issueGrant(busy));
  receiptOf(await deployment.call('POST', '/verify', { key: busy.rpKey, body }));
  expect((await transfer(busy.rpDid, 'relying_party', next.orgId)).json.error).toBe('CONFLICT');
  expect(await me(busy.rpKey)).toBe(200);
});

it('The transfer of a relying party in no org succeeds without decisions; with decisions it gets 409', async () => {
  const next = await newOrg();
  const fresh = await deployment.createTenants();
  expect((await transfer(fresh.rpDid, 'relying_party', next.orgId)).status).toBe(200);

  const busy = await deployment.createTenants();
  const body = await verifyBody(busy, await issueGrant(busy));
  const { receipt_id: id } = receiptOf(await deployment.call('POST', '/verify', { key: busy.rpKey, body }));
  const { status, json } = await transfer(busy.rpDid, 'relying_party', next.orgId);
  expect([status, json.error]).toEqual([409, 'CONFLICT']);
  expect(json.message).toMatch(/another customer would read.*joins its org as itself/);
  expect((await deployment.call('GET', `/decisions/${id}`, { key: next.key })).status).toBe(404);
  expect(await me(busy.rpKey)).toBe(200);
});

describe('The transfer of a managed Principal', () => {
  const decide = async (tenants: Tenants, grant: HeldGrant) => {
    const body = await verifyBody(tenants, grant);
    const { decision, reason } = receiptOf(
      await deployment.call('POST', '/verify', { key: tenants.rpKey, body }),
    );
    return reason ?? decision;
  };
  /** Repeats the transfer as a restore does. */
  const repeat = (of: string, orgId: string) =>
    transferDid(deployment.process.service, {
      ...{ caller: { class: 'system' }, kind: 'principal', requestId: 'restore' },
      ...{ did: of as DidWeb, toOrgId: orgId as OrgId },
    });
  const scene = async () => {
    const [former, next] = [await newOrg(), await newOrg()];
    const tenants = await deployment.createTenants({ orgId: former.orgId });
    return { former, next, tenants, did: tenants.principalDid, grant: await issueGrant(tenants) };
  };

  it('is refused with 409, to an org and to none; its API keys and Grants stay valid, and nothing is audited', async () => {
    const { former, next, tenants, did: managed, grant } = await scene();
    for (const orgId of [next.orgId, null]) {
      const { status, json } = await transfer(managed, 'principal', orgId);
      expect([status, json.error]).toEqual([409, 'CONFLICT']);
      expect(json.message).toMatch(/Register another slug .* compromise its keys/);
    }
    expect(await me(tenants.principalKey)).toBe(200);
    expect(await decide(tenants, grant)).toBe('ALLOW');
    expect((await transfer(managed, 'principal', former.orgId)).status).toBe(200);
    const queried = `/audit?target=${encodeURIComponent(managed)}&action=principal.verify`;
    expect((await deployment.call('GET', queried, { key: former.key })).json.events).toEqual([]);
  });

  it('compromises its signing key when a restore repeats the transfer, so that old and new Grants are denied', async () => {
    const { next, tenants, did: managed, grant } = await scene();
    const reserved = await issueGrant(tenants);
    expect(await decide(tenants, grant)).toBe('ALLOW');
    await repeat(managed, next.orgId);
    expect(await me(tenants.principalKey)).toBe(401);
    for (const held of [grant, reserved]) expect(await decide(tenants, held)).toBe('ISSUER_KEY_COMPROMISED');
    const { json } = await deployment.call('GET', `/principals/${managed}`, { key: tenants.rpKey });
    expect(json.keys).toMatchObject([{ state: 'compromised' }]);
  });

  it('keeps its keys when a restore moves it from no org into one, which it may have joined itself', async () => {
    const { orgId } = await newOrg();
    const tenants = await deployment.createTenants();
    const grant = await issueGrant(tenants);
    await repeat(tenants.principalDid, orgId);
    expect(await decide(tenants, grant)).toBe('ALLOW');
  });
});

it('POST /claims/{did}/transfer answers 400 to an unknown org and 404 to an unknown DID', async () => {
  const { orgId } = await newOrg();
  const { principalDid } = await deployment.createTenants();
  expect((await transfer(principalDid, 'principal', newOrgId())).status).toBe(400);
  expect((await transfer('did:web:nobody.example', 'principal', orgId)).status).toBe(404);
});

it('POST /claims/{did}/transfer answers 503 and changes nothing while a decision holds the barrier; a repeat succeeds', async () => {
  const [former, next] = [await newOrg(), await newOrg()];
  const { principalDid } = await createHosted(former.key);
  await deployment.whileBarrierIsHeld(principalDid, async () => {
    expect((await transfer(principalDid, 'principal', next.orgId)).json.error).toBe('SERVICE_UNAVAILABLE');
    const { rows } = await deployment.sql.query('select org_id from principals where did = $1', [
      principalDid,
    ]);
    expect(rows).toEqual([{ org_id: former.orgId }]);
  });
  expect((await transfer(principalDid, 'principal', next.orgId)).json.org_id).toBe(next.orgId);
});
