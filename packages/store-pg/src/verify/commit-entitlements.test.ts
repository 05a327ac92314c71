import type { OrgId } from '@svc/protocol';
import type { CommitOutcome, DecisionCommit, GrantRecord, Store } from '@svc/service';
import { capped, getEntitlement, productionCheck, push, recount } from '@svc/testkit/store/entitlements';
import { withStores } from '@svc/testkit/store/open-store';
import { untilRow, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertOrg,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const node = (index: number): Store => (index % 2 === 0 ? stores.first : stores.second);
const orgLock = 'select pg_advisory_xact_lock(8, hashtext($1))';
const someoneWaits = `select from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`;
// Statistics of other sessions are otherwise cached until the end of the transaction.
const proofIsWaitedFor = `with renewed as materialized (select pg_stat_clear_snapshot())
  select from renewed, pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'transactionid'`;
let orgId: OrgId;
let world: World;
let grant: GrantRecord;

beforeEach(async () => {
  orgId = await insertOrg(stores.first);
  world = await createWorld(stores.first, orgId);
  grant = await insertGrant(world);
});

const commit = (decisions: readonly DecisionCommit[], store = stores.first): Promise<CommitOutcome[]> =>
  store.verify.commitDecisions(decisions);
const check = async (change: Partial<DecisionCommit> = {}): Promise<DecisionCommit> =>
  allowCommit(world, grant, { productionCheck: await productionCheck(stores.first, orgId), ...change });
const checks = async (count: number): Promise<DecisionCommit[]> => {
  const current = await productionCheck(stores.first, orgId);
  return Array.from({ length: count }, () => allowCommit(world, grant, { productionCheck: current }));
};
/**
 * Repeats, with a new date, a commit whose lock was not free in the 400 ms of a commit, or whose date had become too
 * old. On a slow disk 64 of them take longer; nothing is stored of a refused one.
 */
const commitInTurn = async (makeOne: () => DecisionCommit, store: Store): Promise<CommitOutcome> => {
  for (;;) {
    const [outcome] = await commit([makeOne()], store);
    if (outcome !== undefined && outcome !== 'LOCKED' && outcome !== 'CLOCK') return outcome;
  }
};
const used = async () => (await getEntitlement(stores.first, orgId)).checksSinceCap;
const tally = (outcomes: readonly CommitOutcome[]) => ({
  stored: outcomes.filter((outcome) => outcome === 'STORED').length,
  refused: outcomes.filter((outcome) => outcome === 'PLAN_REQUIRED').length,
});

describe('a cap on production checks', () => {
  it.each([0, 1, 7, 63])(
    'of %i lets exactly that many of 64 concurrent checks through two nodes be stored',
    async (cap) => {
      for (let round = 0; round < 3; round++) {
        await stores.first.putEntitlement(orgId, capped(cap, { capSinceMs: Date.now() }));
        const current = await productionCheck(stores.first, orgId);
        const makeOne = () => allowCommit(world, grant, { productionCheck: current });
        const outcomes = await Promise.all(
          Array.from({ length: 64 }, (_, i) => commitInTurn(makeOne, node(i))),
        );
        expect(tally(outcomes)).toEqual({ stored: cap, refused: 64 - cap });
        expect(await used()).toBe(cap);
      }
    },
  );

  it('applies to the checks of a batch in their order, and counts denials too', async () => {
    await stores.first.putEntitlement(orgId, capped(3));
    const [a, b, c, d] = await checks(4);
    const denied = denyCommit(world, { productionCheck: await productionCheck(stores.first, orgId) });
    const outcomes = await commit([a, denied, b, c, d].filter((one) => one !== undefined));
    expect(outcomes).toEqual(['STORED', 'STORED', 'STORED', 'PLAN_REQUIRED', 'PLAN_REQUIRED']);
  });

  it('leaves the Proof and the idempotency key of a refused check unused', async () => {
    await stores.first.putEntitlement(orgId, capped(0));
    const refused = await check({ idempotency: { key: 'order-1', bodyHash: 'aa' } });
    expect(await commit([refused])).toEqual(['PLAN_REQUIRED']);
    expect((await stores.first.verify.findStored([refused.receiptId])).size).toBe(0);
    expect(await stores.first.verify.findIdempotent(world.relyingParty.did, 'order-1')).toBeNull();
    await stores.first.putEntitlement(orgId, capped(1));
    const { spend, idempotency } = refused;
    expect(await commit([await check({ spend, idempotency })])).toEqual(['STORED']);
  });

  it('keeps the place of a check that was not stored for the next one, which is STALE and succeeds when repeated', async () => {
    await stores.first.putEntitlement(orgId, capped(2));
    const [spent, fresh, next, last] = await checks(4);
    if (!spent || !fresh || !next || !last) throw new Error('four checks were made');
    await commit([spent]);
    const again = { ...(await check()), spend: spent.spend };
    expect(await commit([again, fresh, next, last])).toEqual([
      'REPLAY',
      'STALE',
      'PLAN_REQUIRED',
      'PLAN_REQUIRED',
    ]);
    expect(await commit([fresh])).toEqual(['STORED']);
  });

  it('does not count a check of the same batch that is refused for another reason', async () => {
    await stores.first.putEntitlement(orgId, capped(1));
    const refused = await check({ evaluatedAtMs: Date.now() + 60_000 });
    expect(await commit([refused, await check(), await check()])).toEqual([
      'CLOCK',
      'STORED',
      'PLAN_REQUIRED',
    ]);
    expect(await used()).toBe(1);
  });

  it('holds if a batch is retried in halves because of one refused row', async () => {
    await stores.first.putEntitlement(orgId, capped(5));
    const batch = await checks(12);
    const outcomes = await commit(batch.map((one, i) => (i === 3 ? { ...one, jws: 'a\u0000b' } : one)));
    expect(outcomes[3]).toBe('REFUSED');
    expect(tally(outcomes).stored).toBe(5);
    expect(await used()).toBe(5);
  });

  it('counts only checks dated at or after its beginning, and limits no others', async () => {
    const capSinceMs = Date.now();
    await stores.first.putEntitlement(orgId, capped(1, { capSinceMs }));
    const before = { evaluatedAtMs: capSinceMs - 1 };
    expect(await commit([await check(before), await check(before)])).toEqual(['STORED', 'STORED']);
    expect(await used()).toBe(0);
    const at = { evaluatedAtMs: capSinceMs };
    expect(await commit([await check(at), await check(at)])).toEqual(['STORED', 'PLAN_REQUIRED']);
    expect(await used()).toBe(1);
  });

  it('is counted and refuses nothing while plans are only logged', async () => {
    await stores.first.putEntitlement(orgId, capped(1));
    const isLogged = await productionCheck(stores.first, orgId, { isEnforced: false });
    const batch = (await checks(3)).map((one) => ({ ...one, productionCheck: isLogged }));
    expect(await commit(batch)).toEqual(['STORED', 'STORED', 'STORED']);
    expect(await used()).toBe(3);
    expect(await commit(await checks(1))).toEqual(['PLAN_REQUIRED']);
  });

  it('of one org does not affect decisions of other orgs in the batch', async () => {
    const free = await createWorld(stores.first);
    const otherOrgId = await insertOrg(stores.first);
    const other = await createWorld(stores.first, otherOrgId);
    await stores.first.putEntitlement(orgId, capped(0));
    await stores.first.putEntitlement(otherOrgId, capped(2));
    const ofOther = { productionCheck: await productionCheck(stores.first, otherOrgId) };
    const batch = [await check(), denyCommit(free), denyCommit(other, ofOther), denyCommit(other, ofOther)];
    expect(await commit(batch)).toEqual(['PLAN_REQUIRED', 'STORED', 'STORED', 'STORED']);
    expect((await getEntitlement(stores.first, otherOrgId)).checksSinceCap).toBe(2);
  });
});

describe('an entitlement', () => {
  it('that is absent covers no check if plans are enforced, and every check if not', async () => {
    expect(await commit([await check()])).toEqual(['PLAN_REQUIRED']);
    const isLogged = await productionCheck(stores.first, orgId, { isEnforced: false });
    expect(await commit([await check({ productionCheck: isLogged })])).toEqual(['STORED']);
  });

  it('that is blocked covers no check', async () => {
    await stores.first.putEntitlement(orgId, push({ production: 'blocked' }));
    expect(await commit([await check()])).toEqual(['PLAN_REQUIRED']);
  });

  it('ends at production_until: a check one millisecond earlier is covered, one at that instant is not', async () => {
    const productionUntilMs = Date.now();
    await stores.first.putEntitlement(orgId, push({ productionUntilMs }));
    const last = await check({ evaluatedAtMs: productionUntilMs - 1 });
    const late = await check({ evaluatedAtMs: productionUntilMs });
    expect(await commit([last, late])).toEqual(['STORED', 'PLAN_REQUIRED']);
  });

  it('that was pushed since the evaluation makes the decision STALE, also the first one', async () => {
    const first = await check();
    await stores.first.putEntitlement(orgId, push());
    const second = await check();
    await stores.first.putEntitlement(orgId, capped(5));
    expect(await commit([first, second])).toEqual(['STALE', 'STALE']);
    expect(await used()).toBe(0);
  });

  it('that is being pushed does not delay decisions of other orgs', async () => {
    const free = await createWorld(stores.first);
    await stores.first.putEntitlement(orgId, push());
    const batch = [await check(), denyCommit(free)];
    await withSession(stores.url, async (pusher) => {
      await pusher.query('begin');
      await pusher.query(orgLock, [orgId]);
      expect(await commit(batch)).toEqual(['LOCKED', 'STORED']);
    });
  });

  it('is pushed only after commits under way that used the former one', async () => {
    await stores.first.putEntitlement(orgId, push());
    const one = await check();
    await withSession(stores.url, async (holder) => {
      await holder.query('begin');
      await holder.query('insert into spent_proofs (grant_id, jti, expires_at) values ($1, $2, now())', [
        one.spend?.grantId,
        one.spend?.jti,
      ]);
      // The commit has been judged, and now waits for the Proof.
      const committing = commit([one]);
      await untilRow(holder, proofIsWaitedFor);
      const pushing = stores.second.putEntitlement(orgId, capped(5));
      await untilRow(holder, someoneWaits);
      await holder.query('rollback');
      expect([await committing, await pushing]).toEqual([['STORED'], true]);
    });
    expect(await used()).toBe(1);
    expect(await recount(stores.url, await getEntitlement(stores.first, orgId))).toBe(1);
  });
});

it('a production check is counted, and a sandbox decision is not', async () => {
  await stores.first.putEntitlement(orgId, capped(5));
  const sandbox = await check({ productionCheck: null });
  expect(await commit([await check(), sandbox])).toEqual(['STORED', 'STORED']);
  expect(await used()).toBe(1);
});
