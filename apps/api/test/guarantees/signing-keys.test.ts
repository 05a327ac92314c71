/**
 * What both state changes of a signing key have in common: who may make them, and that none can be undone (interface
 * §Key states).
 */

import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../world/deployment.ts';
import { createKeyedPrincipal, type KeyedPrincipal } from '../world/keyed-principal.ts';
import type { Tenants } from '../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let shop: Tenants;
let foreign: KeyedPrincipal;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  shop = await deployment.createTenants({ orgId });
  foreign = await createKeyedPrincipal(deployment, 1, shop);
});

const newPrincipal = (keyCount: number, org?: string) =>
  createKeyedPrincipal(deployment, keyCount, shop, org);
const at = (kids: readonly string[], index: number): string => kids[index] ?? '';

const move = (to: 'retire' | 'compromise', kid: string, key: string, query = '') =>
  deployment.call('POST', `/keys/${encodeURIComponent(kid)}/${to}${query}`, { key });

const keysOf = async ({ did }: KeyedPrincipal) => {
  const { json } = await deployment.call('GET', `/principals/${encodeURIComponent(did)}`, {
    key: shop.rpKey,
  });
  return json.keys as readonly { kid: string; state: string; since: string }[];
};
const statesOf = async (principal: KeyedPrincipal) => (await keysOf(principal)).map(({ state }) => state);

const publishedKids = async ({ slug }: KeyedPrincipal): Promise<string[]> => {
  const { json } = await deployment.call('GET', `/org/${slug}/did.json`);
  const methods = json.verificationMethod as readonly { id: string }[];
  expect(json.assertionMethod).toEqual(methods.map(({ id }) => id));
  return methods.map(({ id }) => id);
};

const auditOf = async (kid: string) =>
  (
    await deployment.sql.query(
      'select action, actor_kind, actor_did, details from audit_events where target = $1 order by occurred_at, ctid',
      [kid],
    )
  ).rows;

const RANK = { active: 0, retired: 1, compromised: 2 } as const;
const REACHES = { retire: 'retired', compromise: 'compromised' } as const;
const KEYS = 3;
const someMoves = fc.array(
  fc.record({ to: fc.constantFrom('retire', 'compromise'), index: fc.nat(KEYS - 1) }),
  { maxLength: 8 },
);

it('after any sequence of retire and compromise calls each key has its highest state, and only state changes are audited', async () => {
  await fc.assert(
    fc.asyncProperty(someMoves, async (moves) => {
      const principal = await newPrincipal(KEYS);
      const states: (keyof typeof RANK)[] = Array(KEYS).fill('active');
      let steps = 0;
      for (const { to, index } of moves) {
        const before = states[index] ?? 'active';
        if (RANK[REACHES[to]] > RANK[before]) {
          states[index] = REACHES[to];
          steps += 1;
        }
        const { status, json } = await move(to, at(principal.kids, index), principal.key);
        expect([status, json.state]).toEqual([200, states[index]]);
      }
      expect(await statesOf(principal)).toEqual(states);
      expect(await publishedKids(principal)).toEqual(
        principal.kids.filter((_, i) => states[i] !== 'compromised'),
      );
      let audited = 0;
      for (const kid of principal.kids) audited += (await auditOf(kid)).length;
      expect(audited).toBe(steps);
    }),
    { numRuns: sampled({ quick: 4, deep: 12 }) },
  );
});

describe.each(['retire', 'compromise'] as const)('POST /keys/{kid}/%s', (to) => {
  it('changes the state of the key in GET /me of the Principal', async () => {
    const principal = await newPrincipal(2);
    await move(to, at(principal.kids, 0), principal.key);
    const state = to === 'retire' ? 'retired' : 'compromised';
    const { json } = await deployment.call('GET', '/me', { key: principal.key });
    expect(json.keys).toEqual([
      { kid: at(principal.kids, 0), state },
      { kid: at(principal.kids, 1), state: 'active' },
    ]);
  });

  it('succeeds with an org:admin key that names the member; the audit log records the org', async () => {
    const principal = await newPrincipal(1, orgId);
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    const kid = at(principal.kids, 0);
    expect((await move(to, kid, orgAdmin)).json.error).toBe('INVALID_REQUEST');
    expect((await move(to, kid, orgAdmin, `?principal=${principal.did}`)).status).toBe(200);
    expect(await auditOf(kid)).toMatchObject([{ actor_kind: 'org', actor_did: orgId }]);
  });

  it('is a 403 with the key of another Principal, with or without naming the owner, and with an org:read key', async () => {
    const principal = await newPrincipal(1, orgId);
    const kid = at(principal.kids, 0);
    const orgRead = await deployment.createKey('org:read', orgId);
    const refused = [
      await move(to, kid, foreign.key),
      await move(to, kid, foreign.key, `?principal=${principal.did}`),
      await move(to, kid, orgRead, `?principal=${principal.did}`),
    ];
    expect(refused.map(({ json }) => json.error)).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
    expect(await statesOf(principal)).toEqual(['active']);
    expect(await auditOf(kid)).toEqual([]);
  });

  it('is a 404 for an org:admin key that names a Principal outside its org, the same as for an absent one', async () => {
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    const absent = foreign.did.replace(/.{10}$/, '0000000000');
    const seen = await move(to, at(foreign.kids, 0), orgAdmin, `?principal=${foreign.did}`);
    const none = await move(to, at(foreign.kids, 0), orgAdmin, `?principal=${absent}`);
    expect([seen.status, seen.text.replaceAll(foreign.did, '')]).toEqual([
      404,
      none.text.replaceAll(absent, ''),
    ]);
    expect(await statesOf(foreign)).toEqual(['active']);
  });

  it('is a 404 for an unknown key and for a malformed kid', async () => {
    const principal = await newPrincipal(1);
    const unknown = [
      `${principal.did}#key-2`,
      `${foreign.did}#key-2`,
      'did:web:nobody.example#key-1',
      principal.did,
      `${principal.did}#`,
      `${principal.did}#key-1#key-1`,
      `${principal.did}#key-1 `,
      `${principal.did}#key-1\u0000`,
      'key-1',
    ];
    for (const kid of unknown)
      expect([kid, (await move(to, kid, principal.key)).json.error]).toEqual([kid, 'NOT_FOUND']);
    expect(await statesOf(principal)).toEqual(['active']);
  });

  it('is a 401 without a credential and with a relying-party key', async () => {
    const kid = at(foreign.kids, 0);
    const path = `/keys/${encodeURIComponent(kid)}/${to}`;
    expect((await deployment.call('POST', path)).status).toBe(401);
    expect((await move(to, kid, shop.rpKey)).status).toBe(401);
  });
});
