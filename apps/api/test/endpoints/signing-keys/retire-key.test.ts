/** `POST /keys/{kid}/retire` (interface §Key states, §States and transitions; protocol §7 P2). */
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import { createKeyedPrincipal, type KeyedPrincipal, signAnew } from '../../world/keyed-principal.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let shop: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  shop = await deployment.createTenants({ orgId });
});

const newPrincipal = (keyCount: number, org?: string) =>
  createKeyedPrincipal(deployment, keyCount, shop, org);
const at = (kids: readonly string[], index: number): string => kids[index] ?? '';

const move = (to: 'retire' | 'compromise', kid: string, key: string, query = '') =>
  deployment.call('POST', `/keys/${encodeURIComponent(kid)}/${to}${query}`, { key });

/** Resolves with ALLOW or the reason of the DENY. */
const verdict = async (tenants: Tenants, grant: HeldGrant): Promise<string> => {
  const body = await verifyBody(tenants, grant);
  const { decision, reason } = receiptOf(
    await deployment.call('POST', '/verify', { key: tenants.rpKey, body }),
  );
  return reason ?? decision;
};

const keysOf = async ({ did }: KeyedPrincipal) => {
  const { json } = await deployment.call('GET', `/principals/${encodeURIComponent(did)}`, {
    key: shop.rpKey,
  });
  return json.keys as readonly { kid: string; state: string; since: string }[];
};

const auditOf = async (kid: string) =>
  (
    await deployment.sql.query(
      'select action, actor_kind, actor_did, details from audit_events where target = $1 order by occurred_at, ctid',
      [kid],
    )
  ).rows;

describe('POST /keys/{kid}/retire', () => {
  it('leaves earlier Grants valid and denies Grants allocated later; another active key can still sign', async () => {
    const principal = await newPrincipal(2);
    const old = principal.signingWith(0);
    const before = await issueGrant(old);
    expect(await verdict(old, before)).toBe('ALLOW');
    const { status, json } = await move('retire', at(principal.kids, 0), principal.key);
    expect([status, json]).toEqual([200, { kid: at(principal.kids, 0), state: 'retired' }]);
    expect(await verdict(old, before)).toBe('ALLOW');
    expect(await verdict(old, await issueGrant(old))).toBe('ISSUER_KEY_NOT_FOUND');
    const active = principal.signingWith(1);
    expect(await verdict(active, await issueGrant(active))).toBe('ALLOW');
  });

  it('denies Grants signed afterwards, even under an id that was allocated before', async () => {
    const principal = await newPrincipal(1);
    const old = principal.signingWith(0);
    const reserved = await issueGrant(old);
    await move('retire', at(principal.kids, 0), principal.key);
    const later = await signAnew(principal, reserved, (payload) => {
      payload.validFrom = new Date(Date.now() + 1_000).toISOString().replace(/\.[0-9]+/, '');
    });
    expect(await verdict(old, later)).toBe('ISSUER_KEY_NOT_FOUND');
    expect(await verdict(old, reserved)).toBe('ALLOW');
  });

  it('does not change the published document', async () => {
    const principal = await newPrincipal(2);
    const before = (await deployment.call('GET', `/org/${principal.slug}/did.json`)).text;
    await move('retire', at(principal.kids, 0), principal.key);
    expect((await deployment.call('GET', `/org/${principal.slug}/did.json`)).text).toBe(before);
  });

  it('is idempotent: the first time and one audit event remain', async () => {
    const principal = await newPrincipal(1);
    const kid = at(principal.kids, 0);
    const answers = await Promise.all(Array.from({ length: 6 }, () => move('retire', kid, principal.key)));
    const first = await keysOf(principal);
    answers.push(await move('retire', kid, principal.key));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await keysOf(principal)).toEqual(first);
    expect(first).toEqual([{ kid, state: 'retired', since: expect.any(String) }]);
    expect(await auditOf(kid)).toEqual([
      {
        action: 'key.retire',
        actor_kind: 'principal',
        actor_did: principal.did,
        details: { principal: principal.did, from: 'active' },
      },
    ]);
  });

  it('leaves a compromised key compromised', async () => {
    const principal = await newPrincipal(1);
    const kid = at(principal.kids, 0);
    await move('compromise', kid, principal.key);
    const before = await keysOf(principal);
    const { status, json } = await move('retire', kid, principal.key);
    expect([status, json]).toEqual([200, { kid, state: 'compromised' }]);
    expect(await keysOf(principal)).toEqual(before);
    expect((await auditOf(kid)).map(({ action }) => action)).toEqual(['key.compromise']);
  });
});
