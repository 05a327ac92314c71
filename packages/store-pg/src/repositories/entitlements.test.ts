import type { DidWeb, OrgId } from '@svc/protocol';
import { DAY_MS } from '@svc/protocol';
import type { EntitlementPush, Store } from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { capped, getEntitlement, productionCheck, push, recount } from '@svc/testkit/store/entitlements';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, denyCommit, insertOrg, type World } from '@svc/testkit/store/world';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { runCountingLocks } from '../../test/partition-locks.ts';
import { lowestReceiptId } from '../receipt-ids.ts';

const stores = withStores();
const node = (index: number): Store => (index % 2 === 0 ? stores.first : stores.second);
let orgId: OrgId;

beforeEach(async () => {
  orgId = await insertOrg(stores.first);
});

const put = (change: EntitlementPush, store = stores.first) => store.putEntitlement(orgId, change);
const stored = () => getEntitlement(stores.first, orgId);
const verify = async (world: World, count: number) => {
  const current = await productionCheck(stores.first, orgId, { isEnforced: false });
  const batch = Array.from({ length: count }, () => denyCommit(world, { productionCheck: current }));
  expect(new Set(await stores.first.verify.commitDecisions(batch))).toEqual(new Set(['STORED']));
};

describe('an entitlement push', () => {
  it('is read back as it was written', async () => {
    const pushed = capped(12, { productionUntilMs: Date.now() + 5, reason: 'trial' });
    expect(await put(pushed)).toBe(true);
    const { updatedAtMs, ...rest } = await stored();
    expect(rest).toEqual({ ...pushed, orgId, version: 1, checksSinceCap: 0 });
    expect(Math.abs(updatedAtMs - Date.now())).toBeLessThan(60_000);
  });

  it('with an older as_of than the stored one changes nothing', async () => {
    const asOfMs = Date.now();
    await put(push({ asOfMs }));
    const before = await stored();
    expect(await put(capped(1, { production: 'blocked', asOfMs: asOfMs - 1 }))).toBe(false);
    expect(await stored()).toEqual(before);
  });

  it('with the stored as_of replaces it, and repeating it keeps the version', async () => {
    const pushed = capped(3);
    await put(pushed);
    expect(await put({ ...pushed, reason: 'trial' })).toBe(true);
    expect(await put({ ...pushed, reason: 'trial' })).toBe(true);
    expect(await stored()).toMatchObject({ ...pushed, reason: 'trial', version: 1 });
  });

  it.each<Partial<EntitlementPush>>([
    { production: 'blocked' },
    { productionUntilMs: 5 },
    { checkCap: 4 },
    { checkCap: null },
    { capSinceMs: 5 },
  ])('that can alter an answer raises the version: %o', async (change) => {
    const pushed = capped(3);
    await put(pushed);
    await put({ ...pushed, ...change });
    expect((await stored()).version).toBe(2);
  });

  it('of 32 concurrent ones in any order through two nodes, the newest wins', async () => {
    const start = Date.now() - 10_000;
    const order = Array.from({ length: 32 }, (_, i) => (i * 13) % 32);
    const applied = await Promise.all(
      order.map((age, i) => put(capped(age, { asOfMs: start + age, capSinceMs: start + age }), node(i))),
    );
    expect(await stored()).toMatchObject({ checkCap: 31, asOfMs: start + 31, capSinceMs: start + 31 });
    expect(applied[order.indexOf(31)]).toBe(true);
  });

  it('with invalid values is refused completely', async () => {
    await expect(put(push({ checkCap: 1 }))).rejects.toMatchObject({ kind: 'refused' });
    await expect(put(push({ checkCap: -1, capSinceMs: 5 }))).rejects.toMatchObject({ kind: 'refused' });
    expect(await stores.first.entitlements.find(orgId)).toBeNull();
  });
});

describe('a cap that begins with a push', () => {
  it("counts the org's checks since its beginning, including those before the push", async () => {
    const world = await createWorld(stores.first, orgId);
    await verify(world, 3);
    await put(push());
    await verify(world, 2);
    await put(capped(10));
    expect((await stored()).checksSinceCap).toBe(5);
    await put(capped(10, { capSinceMs: Date.now() + 1 }));
    expect((await stored()).checksSinceCap).toBe(0);
  });

  it('keeps counting if only the cap is raised, and counts again after a time without a cap', async () => {
    const world = await createWorld(stores.first, orgId);
    const first = capped(10);
    await put(first);
    await verify(world, 2);
    await put({ ...first, checkCap: 20 });
    expect((await stored()).checksSinceCap).toBe(2);
    await put({ ...first, checkCap: null });
    expect((await stored()).checksSinceCap).toBeNull();
    await verify(world, 3);
    await put(first);
    expect((await stored()).checksSinceCap).toBe(5);
  });

  it("does not count the sandbox, other orgs, or a relying party's checks before it joined", async () => {
    const world = await createWorld(stores.first, orgId);
    const newcomer = await createWorld(stores.first);
    const foreign = await createWorld(stores.first, await insertOrg(stores.first));
    await stores.first.verify.commitDecisions([world, newcomer, foreign].map((one) => denyCommit(one)));
    await stores.first.relyingParties.setOrg(newcomer.relyingParty.did, orgId);
    const relyingParty = await stores.first.relyingParties.find(newcomer.relyingParty.did);
    await verify({ ...newcomer, relyingParty: relyingParty ?? newcomer.relyingParty }, 2);
    await put(capped(10));
    expect((await stored()).checksSinceCap).toBe(2);
  });

  it('is exact for any beginning and for any counted part of the ledger', async () => {
    const { relyingParty } = await createWorld(stores.first, orgId);
    await insertPast(relyingParty.did);
    const now = Date.now();
    const sinceMs = fc.oneof(
      fc.integer({ min: now - 5 * DAY_MS, max: now }),
      // Midnights, and the instants beside them.
      fc
        .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: -1, max: 1 }))
        .map(([days, ms]) => (Math.floor(now / DAY_MS) - days) * DAY_MS + ms),
      fc.constantFrom(-1, 0, now + DAY_MS),
    );
    const countUpTo = fc.integer({ min: 0, max: 120 });
    let asOfMs = now - 1_000;
    await fc.assert(
      fc.asyncProperty(sinceMs, countUpTo, async (capSinceMs, limit) => {
        await runSql(stores.url, 'select svc_seal_ledger(svc_ms(svc_now()))');
        if (limit > 0) await runSql(stores.url, 'select svc_count_usage($1)', [limit]);
        asOfMs += 1;
        await put(push({ checkCap: 5, capSinceMs, asOfMs }));
        expect((await stored()).checksSinceCap).toBe(await recount(stores.url, await stored()));
      }),
      { numRuns: sampled({ quick: 10, deep: 30 }) },
    );
    expect(
      (await runSql(stores.url, 'select from usage_by_key where production_checks > 0')).length,
    ).not.toBe(0);
  });
});

/** Receipts of the last four days; every third is not a production check. */
async function insertPast(relyingParty: DidWeb): Promise<void> {
  await withSession(stores.url, async (session) => {
    await session.query('select svc_ensure_receipt_partitions(current_date - 6, current_date)');
    await session.query(
      `insert into receipts (receipt_id, relying_party, key_id, decision, reason, evaluated_at, jws, content_hash,
         production_check)
       select overlay(svc_lowest_receipt_id(at) placing lpad(i::text, 6, '0') from 25), $1, 'aaaaaaaaaaaa', 'DENY',
         'GRANT_MALFORMED', at, 'jws', sha256('jws'), i % 3 > 0
       from (select i, date_trunc('milliseconds', now() - (400 - i) * interval '15 minutes') as at
         from generate_series(1, 399) as i) as past`,
      [relyingParty],
    );
  });
}

it('svc_count_stored_checks locks only the partition of its day, however often it is called', async () => {
  const today = [Date.now(), Date.now() + DAY_MS].map((ms) =>
    lowestReceiptId(Math.floor(ms / DAY_MS) * DAY_MS),
  );
  await withSession(stores.url, async (session) => {
    for (let i = 0; i < 8; i++) {
      const text = 'select svc_count_stored_checks($1, $2, $3)';
      const { locked } = await runCountingLocks(session, { text, values: [orgId, ...today] });
      expect(locked).toBe(1);
    }
  });
});
