/**
 * Barriers hold a connection while they wait for commits (protocol §9), and a tenant can make its own commits slow. No
 * other tenant's revocation waits for these.
 */
import type { DidWeb } from '@svc/protocol';
import type { Store, Tenant } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';

const stores = withStores();
const PRINCIPALS_OF_ORG = 8;
let world: World;

beforeAll(async () => {
  world = await createWorld(stores.first);
});

const tenant = (org: string): Tenant => ({ crowd: 'tenants', org, subject: org });
const principalsOf = (org: string): readonly DidWeb[] =>
  Array.from({ length: PRINCIPALS_OF_ORG }, (_, i) => `did:web:${org}-${i}.example` as DidWeb);

/** Runs `work` while every Principal of the orgs has a commit under way and a barrier that waits for it. */
const besideBarriersOf = async (orgs: readonly string[], work: (victim: Store) => Promise<void>) => {
  const { first } = stores;
  let ended = 0;
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    for (const did of orgs.flatMap(principalsOf))
      await session.query('select pg_advisory_xact_lock_shared(1, hashtext($1))', [did]);
    const barriers = orgs.flatMap((org) =>
      principalsOf(org).map((did) =>
        first
          .as(tenant(org))
          .revocation.passBarrier(did, Date.now())
          .catch(() => {})
          .then(() => (ended += 1)),
      ),
    );
    await new Promise(setImmediate);
    await work(first.as(tenant('victim')));
    // No barrier has ended, so the victim's work ran beside all of them.
    expect(ended).toBe(0);
    await session.query('commit');
    await Promise.all(barriers);
  });
};

it('a revocation is looked up and recorded while all connections for barriers wait', async () => {
  const grant = await insertGrant(world);
  await besideBarriersOf(['hostile-a', 'hostile-b', 'hostile-c'], async ({ revocation }) => {
    const { grants } = await revocation.grants.findRevocable(world.principal.did, [grant.id]);
    expect(grants.map(({ id }) => id)).toEqual([grant.id]);
    const signed = { principal: world.principal.did, ids: [grant.id], lists: [], events: [] };
    expect(await revocation.grants.recordRevocations({ ...signed, listContentType: 'text/plain' })).toBe(
      true,
    );
  });
});

it('a barrier of another org passes while one org uses all of its barrier connections', async () => {
  const grant = await insertGrant(world);
  await besideBarriersOf(['hostile-d'], async ({ revocation }) => {
    const stamps = await revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    expect(stamps.has(grant.id)).toBe(true);
  });
});
