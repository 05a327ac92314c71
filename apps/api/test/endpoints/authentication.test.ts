/** Who is let in where (interface §Authentication): every route that takes a credential, every class of caller. */
import { type AuthClass, type Route, type RouteId, routes } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../harness/api-process.ts';
import { issueGrant, type Tenants, verifyBody } from '../harness/tenants.ts';
import { randomSlug, withDeployment } from './deployment.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const deployment = withDeployment({ SVC_PROVISION_KEYS: PROVISION_KEY });
const CLOSED = (Object.entries(routes) as [RouteId, Route][]).filter(([, { auth }]) => auth.length > 0);

let tenants: Tenants;
let orgId: string;
let tokens: Readonly<Record<AuthClass, string>>;
let grantId: string;
let receiptId: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId });
  tokens = {
    rp: tenants.rpKey,
    principal: tenants.principalKey,
    org: await deployment.createKey('org:read', orgId),
    'org:admin': await deployment.createKey('org:admin', orgId),
    observer: await deployment.createKey('observer', 'did:web:svc.test'),
    admin: ADMIN_TOKEN,
    provision: PROVISION_KEY,
  };
  const grant = await issueGrant(tenants);
  grantId = grant.grantId;
  const body = await verifyBody(tenants, grant);
  const { json } = await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
  receiptId = String(json.receipt_id);
});

/** A request that each route answers with success for whoever may call it. */
const requestFor = async (id: RouteId): Promise<{ path: string; body?: unknown }> => {
  const { path } = routes[id];
  const rp = `/relying-parties/${tenants.rpDid}`;
  switch (id) {
    case 'verify':
      return { path, body: { grant: '', proof: '', action: {} } };
    case 'allocateGrant':
      return { path, body: { agent: tenants.agent.did } };
    case 'revokeGrant':
      return { path, body: { grant_id: grantId } };
    case 'createPrincipal':
      return { path, body: { kind: 'hosted', did: `did:web:${randomSlug('h')}.example` } };
    case 'createRelyingParty':
      return { path, body: { kind: 'managed', slug: randomSlug('r') } };
    case 'updateRelyingParty':
      return { path: rp, body: { name: 'Shop' } };
    case 'getRelyingParty':
      return { path: rp };
    case 'getDecision':
      return { path: `/decisions/${receiptId}` };
    default:
      return { path };
  }
};

const send = async (id: RouteId, key: string | undefined) => {
  const { path, body } = await requestFor(id);
  const acting =
    id === 'revokeGrant' && key?.startsWith('dk_org') ? `?principal=${tenants.principalDid}` : '';
  return deployment.call(routes[id].method.toUpperCase(), path + acting, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
  });
};

/** Interface §Errors rule 1: 401 for a class that does not belong; 403 where only the role within the org is short. */
const expectedStatus = (route: Route, authClass: AuthClass): number => {
  const success = Number(Object.keys(route.responses)[0]);
  if (route.auth.includes(authClass)) return success;
  if (authClass === 'org:admin' && route.auth.includes('org')) return success;
  return authClass === 'org' && route.auth.includes('org:admin') ? 403 : 401;
};

describe.each(CLOSED)('%s', (id, route) => {
  it('lets in the classes of the interface and no other', async () => {
    for (const authClass of Object.keys(tokens) as AuthClass[]) {
      const { status } = await send(id, tokens[authClass]);
      expect([authClass, status]).toEqual([authClass, expectedStatus(route, authClass)]);
    }
  });

  it('answers 401 without a credential, to another scheme, and to a key that nobody has', async () => {
    expect((await send(id, undefined)).status).toBe(401);
    const { path, body } = await requestFor(id);
    const basic = {
      headers: { authorization: `Basic ${tenants.rpKey}` },
      ...(body === undefined ? {} : { body }),
    };
    expect((await deployment.call(route.method.toUpperCase(), path, basic)).status).toBe(401);
    const unknown = `${tenants.rpKey.slice(0, -1)}${tenants.rpKey.endsWith('0') ? '1' : '0'}`;
    expect((await send(id, unknown)).status).toBe(401);
    expect((await send(id, `${ADMIN_TOKEN}x`)).status).toBe(401);
  });

  it.each(['rp', 'principal', 'org:read', 'org:admin', 'observer'] as const)(
    'answers 401 to a revoked key of role %s, from the moment of the revocation',
    async (role) => {
      const subject = { rp: tenants.rpDid, principal: tenants.principalDid }[role as 'rp'] ?? orgId;
      const key = await deployment.createKey(role, subject);
      const before = await send(id, key);
      await deployment.revokeKey(key);
      const after = await send(id, key);
      expect(after.status).toBe(401);
      expect(after.json).toEqual({ error: 'UNAUTHORIZED', message: expect.any(String) });
      // A class that is let in was answered before: it is the revocation that makes the difference.
      if (route.auth.some((authClass) => authClass === role)) expect(before.status).toBeLessThan(300);
    },
  );
});

it('the class of a key comes from its stored row, not from its prefix', async () => {
  const key = await deployment.createKey('principal', tenants.principalDid);
  await deployment.sql.query(
    `update api_keys set role = 'rp', subject = $1 where subject = $2 and key_id = $3`,
    [tenants.rpDid, tenants.principalDid, (await deployment.call('GET', '/me', { key })).json.key_id],
  );
  expect((await deployment.call('GET', '/me', { key })).json).toMatchObject({
    role: 'rp',
    subject: tenants.rpDid,
  });
});

it('a new key of a subject does not invalidate the old one', async () => {
  const second = await deployment.createKey('principal', tenants.principalDid);
  for (const key of [second, tenants.principalKey])
    expect((await deployment.call('GET', '/me', { key })).json).toMatchObject({
      subject: tenants.principalDid,
    });
});
