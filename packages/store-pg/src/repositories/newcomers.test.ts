import { randomBytes } from 'node:crypto';
import type { ApiKeyId, OrgId } from '@svc/protocol';
import { type EntitlementPush, findTenantFor, tenantOf } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, type World } from '@svc/testkit/store/world';
import { beforeEach, expect, it } from 'vitest';

const stores = withStores();
let world: World;
let orgId: OrgId;

const push = (change: Partial<EntitlementPush>): EntitlementPush => ({
  production: 'allowed',
  productionUntilMs: null,
  checkCap: null,
  capSinceMs: null,
  reason: 'paid',
  asOfMs: Date.now(),
  ...change,
});

/** An org with a Principal, a relying party and a key of each; the world's key is the relying party's. */
beforeEach(async () => {
  world = await createWorld(stores.first);
  orgId = `org_${randomBytes(8).toString('hex')}` as OrgId;
  await runSql(stores.url, `insert into orgs (org_id, slug, name) values ($1, $1, 'Org')`, [orgId]);
  await runSql(stores.url, 'update principals set org_id = $1 where did = $2', [orgId, world.principal.did]);
  await runSql(stores.url, 'update relying_parties set org_id = $1 where did = $2', [
    orgId,
    world.relyingParty.did,
  ]);
});

const insertKey = async (role: 'principal' | 'org:admin' | 'org:read' | 'observer', subject: string) => {
  const keyHash = randomBytes(32).toString('hex');
  const keyId = randomBytes(6).toString('hex') as ApiKeyId;
  await stores.first.apiKeys.insert({ keyHash, keyId, role, subject, label: null });
  return keyHash;
};

const areNewcomers = async () => {
  const hashes = await Promise.all([
    insertKey('principal', world.principal.did),
    insertKey('org:admin', orgId),
    insertKey('org:read', orgId),
  ]);
  const keys = await stores.first.apiKeys.findByHashes(hashes);
  const caller = await stores.first.verify.findRpCaller(world.keyHash);
  const principal = await stores.first.principals.find(world.principal.did);
  if (principal === null) throw new Error('no Principal');
  const { crowd } = await findTenantFor(stores.first, 'principal', principal);
  return [...keys.map((key) => key?.isNewcomer), caller?.isNewcomer, crowd === 'newcomers'];
};

const signUp = () =>
  stores.first.selfServe.insert({ orgId, relyingParty: world.relyingParty.did, adminEmail: 'a@b.example' });

it('an org that the operator created and its members are not newcomers', async () => {
  expect(await areNewcomers()).toEqual([false, false, false, false, false]);
});

it('an org that signed itself up and its members are newcomers until they have a paid entitlement', async () => {
  await signUp();
  expect(await areNewcomers()).toEqual([true, true, true, true, true]);
  await stores.first.putEntitlement(orgId, push({ reason: 'trial' }));
  expect(await areNewcomers()).toEqual([true, true, true, true, true]);
  await stores.first.putEntitlement(orgId, push({}));
  expect(await areNewcomers()).toEqual([false, false, false, false, false]);
});

it.each([{ production: 'blocked', reason: 'canceled' }, { productionUntilMs: Date.now() - 1_000 }] as const)(
  'an org that signed itself up is a newcomer with the entitlement %j',
  async (change) => {
    await signUp();
    await stores.first.putEntitlement(orgId, push(change));
    expect(await areNewcomers()).toEqual([true, true, true, true, true]);
  },
);

it('a caller of a newcomer org waits in the crowd of newcomers, and an observer key does not', async () => {
  await signUp();
  const hashes = [await insertKey('org:admin', orgId), await insertKey('observer', world.principal.did)];
  const [byOrg, observer] = await stores.first.apiKeys.findByHashes(hashes);
  if (byOrg == null || observer == null) throw new Error('no key');
  const { isNewcomer, ...key } = byOrg;
  const { keyId } = key;
  const tenant = tenantOf({ class: 'org', role: 'admin', subject: orgId, keyId, key, isNewcomer });
  expect(tenant).toEqual({ crowd: 'newcomers', org: orgId, subject: `org ${orgId}` });
  expect(observer.isNewcomer).toBe(false);
});

it('hosted Principals of all newcomer orgs share one turn of re-checks, however many orgs there are', async () => {
  const hosts = await Promise.all([1, 2, 3].map(() => createWorld(stores.first)));
  const dids = hosts.map(({ principal }) => principal.did);
  for (const [i, { principal, relyingParty }] of hosts.entries()) {
    const own = `org_${randomBytes(8).toString('hex')}`;
    await runSql(stores.url, `insert into orgs (org_id, slug, name) values ($1, $1, 'Org')`, [own]);
    await runSql(
      stores.url,
      `update principals set org_id = $1, last_checked_at = svc_now() - make_interval(days => $3) where did = $2`,
      [own, principal.did, 9 - i],
    );
    const tenant = { orgId: own as OrgId, relyingParty: relyingParty.did, adminEmail: 'a@b.example' };
    if (i < 2) await stores.first.selfServe.insert(tenant);
  }
  const due = await stores.first.principals.listDueForVerification(1_000);
  const order = due.map(({ did }) => dids.indexOf(did)).filter((at) => at >= 0);
  // The second newcomer has waited longer than the paying org, and still comes after it.
  expect(order).toEqual([0, 2, 1]);

  // Also where more hosts of newcomers have waited longer than one read returns.
  const [first, , paid] = hosts;
  const insertHosts = (name: string, count: number, beside: World | undefined) =>
    runSql(
      stores.url,
      `insert into principals (did, kind, domain, verification_state, verification_token, org_id, may_be_named)
       select 'did:web:' || name, 'hosted', name, 'unverified', 'token', org_id, true
       from principals, generate_series(1, $2) as i, lateral (select $3 || i || '.example' as name) as n where did = $1`,
      [beside?.principal.did, count, name],
    );
  await insertHosts('host-', 10_000, first);
  await insertHosts('paid-', 49, paid);
  await runSql(stores.url, 'analyze principals');
  const page = await stores.first.principals.listDueForVerification(100);
  expect(page).toHaveLength(100);
  const ofPaid = page.filter(({ did }) => did === paid?.principal.did || did.startsWith('did:web:paid-'));
  expect(ofPaid.length).toBeGreaterThan(30);
  const read = await withSession(stores.url, async (session) => {
    await session.query('begin');
    await session.query('select from svc_hosts_due(1100, 0)');
    const { rows } = await session.query<{ read: number }>(
      `select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read
       from pg_stat_xact_user_tables where relname = 'principals'`,
    );
    await session.query('rollback');
    return rows[0]?.read ?? 0;
  });
  expect(read).toBeGreaterThan(1_100);
  expect(read).toBeLessThan(5_000);
});
