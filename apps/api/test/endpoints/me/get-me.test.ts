/** `GET /me` for each class of key (interface §API keys and caller identity). */
import { createVerifier } from '@svc/sdk-rp';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { contractFetch } from '../../world/contract-call.ts';
import { withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let orgId: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId, rp: { name: 'Shop', proof_window_seconds: 90 } });
});

afterEach(() => vi.restoreAllMocks());

const me = async (key: string) => (await deployment.call('GET', '/me', { key })).json;
const common = {
  key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
  service_did: `did:web:${DOMAIN}`,
  env: 'development',
  key_label: null,
  key_created_at: expect.any(String),
};

it('GET /me shows to an RP key its relying party', async () => {
  expect(await me(tenants.rpKey)).toEqual({
    ...common,
    subject: tenants.rpDid,
    role: 'rp',
    name: 'Shop',
    proof_window_seconds: 90,
    org_id: orgId,
  });
});

it('GET /me shows to an RP key a change of its relying party at once', async () => {
  const key = await deployment.createKey('org:admin', orgId);
  await me(tenants.rpKey);
  await deployment.call('PATCH', `/relying-parties/${tenants.rpDid}`, { key, body: { name: 'Shop 2' } });
  expect((await me(tenants.rpKey))?.name).toBe('Shop 2');
});

it('GET /me shows to a Principal key its Principal, the verification and the signing keys', async () => {
  const seen = await me(tenants.principalKey);
  expect(seen).toEqual({
    ...common,
    subject: tenants.principalDid,
    role: 'principal',
    kind: 'managed',
    verification: expect.objectContaining({ state: 'verified', reverified_every_hours: 24 }),
    keys: [{ kid: `${tenants.principalDid}#key-1`, state: 'active' }],
    org_id: orgId,
  });
});

it.each(['org:read', 'org:admin'] as const)(
  'GET /me shows to an %s key its org and the members, as GET /orgs/{org_id} does',
  async (role) => {
    const key = await deployment.createKey(role, orgId);
    const { members, ...org } = (await deployment.call('GET', `/orgs/${orgId}`, { key })).json;
    expect(await me(key)).toEqual({ ...common, subject: orgId, role, org, members });
    expect(members).toMatchObject([{ did: tenants.principalDid }, { did: tenants.rpDid }]);
  },
);

it('GET /me shows to an observer key the service and the calls in its scope', async () => {
  const { json } = await deployment.call('POST', '/observer-keys', {
    key: ADMIN_TOKEN,
    body: { label: 'board' },
  });
  expect(await me(String(json.api_key))).toEqual({
    ...common,
    subject: common.service_did,
    role: 'observer',
    key_label: 'board',
    scope: ['GET /decisions/stats', 'GET /usage'],
  });
});

it('GET /me shows the label of the key', async () => {
  const { json } = await deployment.call('POST', '/api-keys', {
    key: tenants.rpKey,
    body: { label: 'till 7' },
  });
  expect(await me(String(json.api_key))).toMatchObject({ subject: tenants.rpDid, key_label: 'till 7' });
});

/** Answers as a gateway does whose own clock is a minute ahead. */
const throughGateway: typeof fetch = async (input, init) => {
  const { body, status, headers } = await contractFetch(input, init);
  const answer = new Response(body, { status, headers });
  answer.headers.set('date', new Date(Date.now() + 60_000).toUTCString());
  return answer;
};

it.each([
  [0, true],
  [-60_000, false],
  [60_000, false],
])(
  'ready() of a verifier %d ms off the service clock succeeds: %j, although the clocks of node and gateway are off',
  async (offMs, isReady) => {
    const { clock } = deployment.process.service;
    vi.spyOn(Date, 'now').mockReturnValue(clock.nowMs() + 120_000);
    const verifier = createVerifier({
      ...{ baseUrl: deployment.process.baseUrl, apiKey: tenants.rpKey, serviceDid: `did:web:${DOMAIN}` },
      ...{ fetch: throughGateway, now: () => clock.nowMs() + offMs },
    });
    const ready = verifier.ready();
    await (isReady
      ? expect(ready).resolves.toBeUndefined()
      : expect(ready).rejects.toMatchObject({
          kind: 'configuration',
          message: expect.stringMatching(/^the clock here is/),
        }));
  },
);

it('GET /me has no svc-time header while the service clock is in doubt', async () => {
  const { holds } = deployment.process.service;
  const told = async () =>
    (await deployment.call('GET', '/me', { key: tenants.rpKey })).headers['svc-time'] !== undefined;
  expect(await told()).toBe(true);
  vi.spyOn(holds, 'list').mockReturnValue([{ name: 'clock', reason: 'a step' }]);
  expect(await told()).toBe(false);
});
