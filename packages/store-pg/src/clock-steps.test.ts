/** Steps of the database's clock, and of the node's with it: what is dated, sealed, closed or deleted meanwhile. */
import { randomBytes } from 'node:crypto';
import { encodeBase64urlText, encodeUlid, type ReceiptId } from '@svc/protocol';
import {
  closeDays,
  collectEvidence,
  DatabaseClock,
  type EntitlementReason,
  forgetSpentProofs,
  Holds,
  type ServiceDeps,
} from '@svc/service';
import { awayFromMidnight, daysAgo, moveFirstDay } from '@svc/testkit';
import { push } from '@svc/testkit/store/entitlements';
import { insertSubscription, listTold, sequenceAll } from '@svc/testkit/store/events';
import { type MovableClock, machineClock, moveClockOf } from '@svc/testkit/store/movable-clock';
import { openStore, withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  hashOf,
  insertGrant,
  insertOrg,
  newAgent,
  newGrantId,
  newJti,
  type World,
} from '@svc/testkit/store/world';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { repairClock } from './clock-repair.ts';

const DAY_AND_MORE_MS = 26 * 3_600_000;
const BACK_MS = [-30_000, -300_000];

await awayFromMidnight();
const stores = withStores();
const log = { info: () => {}, warn: () => {}, error: () => {} };
let clock: MovableClock;
let store: (typeof stores)['first'];
let world: World;
let steppedMs = 0;
const started: DatabaseClock[] = [];

beforeAll(async () => {
  clock = await moveClockOf(stores.url);
  store = openStore(stores.url);
  world = await createWorld(store);
});
afterAll(() => store?.close());
afterEach(async () => {
  for (const one of started.splice(0)) one.stop();
  await step(-steppedMs);
  // The seal of a failed test would make the later ones fail.
  await runSql(stores.url, `update ledger_seal set sealed_until = now() - interval '1 day'`);
});

/** Steps only the database's clock. */
const step = async (ms: number) => {
  await clock.pass(ms);
  steppedMs += ms;
};

const lateAllows = () =>
  runSql(
    stores.url,
    `select receipt_id from receipts r join grants g on g.id = r.grant_id
     where decision = 'ALLOW' and r.evaluated_at > g.revoked_at`,
  );

/** Starts a process with its own knowledge of the time. */
const startProcess = async () => {
  const holds = new Holds(log);
  const processClock = await DatabaseClock.start({ store, holds, log });
  started.push(processClock);
  return { holds, clock: processClock };
};

describe.each(BACK_MS)('after a step back by %d ms', (backMs) => {
  it.each([
    ['of the database alone', 0],
    ['of both machines', backMs],
  ])('%s: no ALLOW given before is dated after the revocation of its Grant', async (_, nodeMs) => {
    const grant = await insertGrant(world);
    const given = allowCommit(world, grant);
    expect(await store.verify.commitDecisions([given])).toEqual(['STORED']);
    await step(backMs);
    const { did } = world.principal;
    const stamps = await store.revocation.stampRevoked(did, [grant.id], Date.now() + nodeMs);
    expect(stamps.get(grant.id)).toBeGreaterThanOrEqual(given.evaluatedAtMs);
    expect(await store.revocation.passBarrier(did, Date.now() + nodeMs)).toBeGreaterThanOrEqual(
      given.evaluatedAtMs,
    );
    expect(await lateAllows()).toEqual([]);
  });

  it('of both machines: the barrier of one Principal is not dated by the ALLOWs of another', async () => {
    const other = await createWorld(store);
    expect(await store.verify.commitDecisions([allowCommit(world, await insertGrant(world))])).toEqual([
      'STORED',
    ]);
    await step(backMs);
    const passedMs = await store.revocation.passBarrier(other.principal.did, Date.now() + backMs);
    expect(Math.abs(passedMs - (Date.now() + backMs))).toBeLessThan(5_000);
  });
});

it('without the look at the ledger, a revocation is dated before an ALLOW: the test can fail', async () => {
  const whole = await alterFunction(stores.url, 'svc_barrier_instant', 'greatest(v_now, v_last)', 'v_now');
  const grant = await insertGrant(world);
  await store.verify.commitDecisions([allowCommit(world, grant)]);
  await step(-30_000);
  await store.revocation.stampRevoked(world.principal.did, [grant.id], Date.now() - 30_000);
  expect(await lateAllows()).toHaveLength(1);
  await runSql(stores.url, whole);
  await runSql(stores.url, `update grants set revoked_at = now() + interval '1 hour' where id = $1`, [
    grant.id,
  ]);
});

describe('while the database is 26 h ahead', () => {
  it("the seal follows the node's time: decisions are stored again once the step is undone", async () => {
    await step(DAY_AND_MORE_MS);
    await store.usage.seal(Date.now());
    await step(-DAY_AND_MORE_MS);
    await expect
      .poll(async () => await store.verify.commitDecisions([denyCommit(world)]))
      .toEqual(['STORED']);
  });

  it("a seal by the database's clock alone refuses later decisions with CLOCK: the test can fail", async () => {
    await step(DAY_AND_MORE_MS);
    await store.usage.seal(clock.nowMs());
    await step(-DAY_AND_MORE_MS);
    expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['CLOCK']);
  });

  it('a spent Proof stays spent', async () => {
    const grant = await insertGrant(world);
    const given = allowCommit(world, grant);
    expect(await store.verify.commitDecisions([given])).toEqual(['STORED']);
    await step(DAY_AND_MORE_MS);
    await forgetSpentProofs({ store, clock: machineClock }, new AbortController().signal);
    await step(-DAY_AND_MORE_MS);
    const again = allowCommit(world, grant, { spend: given.spend });
    expect(await store.verify.commitDecisions([again])).toEqual(['REPLAY']);
  });

  it("a revocation is dated by the node's time", async () => {
    const grant = await insertGrant(world);
    await step(DAY_AND_MORE_MS);
    const stamps = await store.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    expect((stamps.get(grant.id) ?? 0) - Date.now()).toBeLessThanOrEqual(5_000);
  });

  it('no day is closed, also by a process that has not yet noticed the step', async () => {
    const today = daysAgo(0);
    await moveFirstDay(stores.url, today);
    const one = await startProcess();
    await step(DAY_AND_MORE_MS);
    const deps = { store, ...one } as unknown as ServiceDeps;
    await expect(closeDays(deps)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(one.holds.list().map(({ name }) => name)).toEqual(['clock']);
    expect(await runSql(stores.url, 'select day from closed_days')).toEqual([]);
    await step(-DAY_AND_MORE_MS);
    await one.clock.resync();
    expect(await closeDays(deps)).toEqual({ closed: [], latest: null });
  });

  it('a process that starts holds decisions, with the difference of the clocks as the reason', async () => {
    await step(DAY_AND_MORE_MS);
    const { holds } = await startProcess();
    expect(holds.list()).toEqual([{ name: 'clock', reason: expect.stringContaining('differ by 93600 s') }]);
  });
});

describe('the mark of the clock', () => {
  it('only moves up, and makes a process that starts after a step back hold decisions', async () => {
    const nowMs = Date.now();
    await store.clock.advanceMark(nowMs);
    await store.clock.advanceMark(nowMs - 60_000);
    expect((await store.clock.read()).mark).toEqual({ atMs: nowMs, resets: 0 });
    await step(-300_000);
    const { holds } = await startProcess();
    expect(holds.list()[0]?.reason).toContain('300');
  });
});

describe('a repair after both clocks were ahead', () => {
  it('lets events go on: endpoints are asked and deliveries tried as soon as with a correct clock', async () => {
    const audience = `rp ${world.relyingParty.did}` as const;
    const types = ['decision.deny'] as const;
    const [ended, failing] = [
      await insertSubscription(store, audience, types),
      await insertSubscription(store, audience, types),
    ];
    const take = () =>
      store.eventDeliveries.take(10, {
        ...{ atOnce: 10, ofTenant: 10, underWay: { newcomers: 0, others: 0 } },
        ...{ forSeconds: 60, pushes: false },
      });
    const now = { isDelivered: false, isGone: false, status: 500, problem: 'answered 500' };
    await step(DAY_AND_MORE_MS);
    await runSql(
      stores.url,
      `insert into event_log (event_id, audience, type, occurred_at, data)
       select 'evt_' || n, $1, 'decision.deny', svc_now(), '{}' from generate_series(1, 2) as n`,
      [audience],
    );
    for (const { subscriptionId } of [ended, failing]) await store.eventDeliveries.open(subscriptionId, 10);
    const taken = await take();
    expect(taken).toHaveLength(4);
    const failed = taken.filter(({ subscriptionId }) => subscriptionId === failing.subscriptionId);
    for (const one of failed)
      await store.eventDeliveries.noteOutcome(one, { ...now, retrySeconds: 5, endpointWaitSeconds: 600 }, 5);
    await store.eventSubscriptions.disable(ended.subscriptionId);
    await store.eventSubscriptions.enable(ended.subscriptionId);
    for (const { subscriptionId } of [ended, failing])
      await store.eventSubscriptions.countReplay(subscriptionId, 1);
    await store.eventSubscriptions.rotate(failing.subscriptionId, 'root', 24);
    await step(-DAY_AND_MORE_MS);
    expect(await take()).toEqual([]);
    await repairClock(stores.url, Date.now());
    const ahead = await runSql(
      stores.url,
      `select * from (
         select 'subscription', greatest(not_before - interval '10 minutes', failing_since, failing_day_at, replays_from) as at
         from event_subscriptions
         union all select 'delivery', greatest(next_attempt_at - interval '5 seconds', taken_until - interval '60 seconds', last_attempt_at)
         from event_deliveries
         union all select 'secret', ends_at - interval '24 hours' from event_secrets
         union all select 'log', logged_at from event_log) as dated where at > svc_now()`,
    );
    expect(ahead).toEqual([]);
    // Deliveries under way, and failed ones, wait as long as before.
    await step(61_000 + 600_000);
    const again = await take();
    expect(new Set(again.map(({ subscriptionId }) => subscriptionId))).toEqual(
      new Set([ended.subscriptionId, failing.subscriptionId]),
    );
    await runSql(stores.url, 'truncate event_subscriptions, event_outbox, event_log cascade');
  });

  const HOURS_MS = 2 * 3_600_000;
  const PROOF_LIFE_MS = 313_000;

  it('by more than the life of spent Proofs: no decision is stored before all of these have expired', async () => {
    const own = await createWorld(store);
    const grant = await insertGrant(own);
    const given = allowCommit(own, grant);
    expect(await store.verify.commitDecisions([given])).toEqual(['STORED']);
    await step(HOURS_MS);
    await store.clock.advanceMark(clock.nowMs());
    await forgetSpentProofs(
      { store, clock: { nowMs: () => Math.floor(clock.nowMs()), resync: async () => {} } },
      new AbortController().signal,
    );
    await step(-HOURS_MS);
    const { repairedAtMs, decisionsFromMs } = await repairClock(stores.url, Date.now());
    expect(decisionsFromMs).toBe(repairedAtMs + PROOF_LIFE_MS);
    const again = allowCommit(own, grant, { spend: given.spend });
    expect(await store.verify.commitDecisions([again])).toEqual(['CLOCK']);
    // A repeated repair neither restarts the quarantine nor shortens it.
    expect(await repairClock(stores.url, Date.now())).toMatchObject({ decisionsFromMs });
    await step(PROOF_LIFE_MS);
    const late = denyCommit(world, { evaluatedAtMs: Math.floor(clock.nowMs()) });
    expect(await store.verify.commitDecisions([late])).toEqual(['STORED']);
    await runSql(stores.url, `update fence_quarantine set quarantined_until = '-infinity'`);
  });

  it('by less than the life of spent Proofs: decisions are stored at once', async () => {
    await step(600_000);
    await store.clock.advanceMark(clock.nowMs());
    await step(-600_000);
    expect(await repairClock(stores.url, Date.now())).toMatchObject({ decisionsFromMs: null });
    await expect.poll(() => store.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
  });

  it('is tried again after a deadlock with a session that locks rows in another order', async () => {
    const { principal } = await createWorld(store);
    await step(DAY_AND_MORE_MS);
    await store.principals.recordVerification(principal.did, { state: 'verified', proven: true });
    await step(-DAY_AND_MORE_MS);
    await withSession(stores.url, async (other) => {
      // The repair looks for the deadlock first, so PostgreSQL ends the repair and not this session.
      await other.query(`set deadlock_timeout = '60s'`);
      await other.query('begin');
      await other.query('select from principals where did = $1 for update', [principal.did]);
      const repaired = repairClock(stores.url, Date.now());
      await withSession(stores.url, (observer) => untilWaiting(observer));
      await other.query('select from clock_mark for update');
      await other.query('rollback');
      expect(await repaired).toMatchObject({ markMovedMs: expect.any(Number) });
    });
    const repaired = await store.principals.find(principal.did);
    expect(repaired?.lastProvenMs).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('makes domains due for verification, and limits the dates of proofs and retired keys to now', async () => {
    const { principal } = await createWorld(store);
    const [key] = principal.keys;
    await step(DAY_AND_MORE_MS);
    await store.principals.recordVerification(principal.did, { state: 'verified', proven: true });
    await store.principals.setKeyState(principal.did, key?.kid ?? '', 'retired');
    await step(-DAY_AND_MORE_MS);
    const ahead = await store.principals.find(principal.did);
    await repairClock(stores.url, Date.now());
    const repaired = await store.principals.find(principal.did);
    const nowMs = Date.now() + 1;
    expect(repaired?.keys[0]?.sinceMs).toBeLessThanOrEqual(nowMs);
    expect(repaired?.lastProvenMs).toBeLessThanOrEqual(nowMs);
    expect(repaired?.verifiedSinceMs).toBeLessThanOrEqual(nowMs);
    // The version rises, so that nodes read it anew.
    expect(repaired?.version).toBe((ahead?.version ?? 0) + 1);
    const due = await store.principals.listDueForVerification(1_000);
    expect(due.map(({ did }) => did)).toContain(principal.did);
    // A correct date stays.
    await store.principals.recordVerification(principal.did, { state: 'verified', proven: true });
    const right = await store.principals.find(principal.did);
    await repairClock(stores.url, Date.now());
    expect(await store.principals.find(principal.did)).toEqual(right);
  });

  it('limits the dates of Grants and their recorded revocations to now, so that nodes reread and complete them, and verifiers are told', async () => {
    const own = await createWorld(store);
    const { did } = own.principal;
    const before = await insertGrant(own);
    await step(DAY_AND_MORE_MS);
    const [ahead, revoked] = [await insertGrant(own), await insertGrant(own)];
    await store.grants.recordRevocation([revoked.id]);
    await step(-DAY_AND_MORE_MS);
    const { version } = (await store.principals.find(did)) ?? own.principal;
    await repairClock(stores.url, Date.now());
    const [found, foundRevoked] = [await store.grants.find(ahead.id), await store.grants.find(revoked.id)];
    const nowMs = Date.now() + 1;
    expect(found?.allocatedAtMs).toBeLessThanOrEqual(nowMs);
    expect(foundRevoked?.allocatedAtMs).toBeLessThanOrEqual(nowMs);
    expect(foundRevoked?.revocationRecordedAtMs).toBeLessThanOrEqual(nowMs);
    expect((await store.principals.find(did))?.version).toBe(version + 1);
    expect(await store.grants.find(before.id)).toEqual(before);

    expect(
      await store.verify.commitDecisions([
        allowCommit(own, ahead, { usedPrincipal: { did, version: version + 1 } }),
      ]),
    ).toEqual(['STORED']);
    const verifier = `rp ${own.relyingParty.did}` as const;
    await insertSubscription(store, verifier, ['grant.revoked']);
    await store.grants.recordRevocation([ahead.id]);
    await store.revocation.stampRevoked(did, [ahead.id], Date.now());
    await sequenceAll(stores.url, store);
    expect(await listTold(stores.url, verifier)).toMatchObject([
      { type: 'grant.revoked', order_key: ahead.id },
    ]);
    await step(11_000);
    const unstamped = await store.grants.listUnstamped(did, 10, 1_000);
    expect(unstamped.map(({ id }) => id)).toContain(revoked.id);
    expect((await store.grants.listUnstampedPrincipals(10, null)).principals).toContain(did);
    expect((await store.grants.listUnstampedPrincipals(10, did)).principals).not.toContain(did);
    // A correct date stays.
    const right = await store.principals.find(did);
    await repairClock(stores.url, Math.floor(clock.nowMs()));
    expect(await store.principals.find(did)).toEqual(right);
  });

  it('keeps the order of Grant allocations and the retirement of their key', async () => {
    const own = await createWorld(store);
    const kid = own.principal.keys[0]?.kid ?? '';
    await step(DAY_AND_MORE_MS);
    const before = await insertGrant(own);
    await step(1_000);
    await store.principals.setKeyState(own.principal.did, kid, 'retired');
    await step(1_000);
    const after = await insertGrant(own);
    await step(-DAY_AND_MORE_MS - 2_000);
    await repairClock(stores.url, Date.now());
    const retiredMs = (await store.principals.find(own.principal.did))?.keys[0]?.sinceMs ?? 0;
    expect((await store.grants.find(before.id))?.allocatedAtMs).toBeLessThanOrEqual(retiredMs);
    expect((await store.grants.find(after.id))?.allocatedAtMs).toBeGreaterThan(retiredMs);
  });

  it('makes an Idempotency-Key expire after 10 minutes, and accepts later pushes of an entitlement', async () => {
    const orgId = await insertOrg(store);
    const pushAt = (asOfMs: number, reason: EntitlementReason) =>
      store.putEntitlement(orgId, push({ asOfMs, reason }));
    const idempotency = { key: newJti(), bodyHash: 'sha256:aa' };
    await step(DAY_AND_MORE_MS);
    const given = denyCommit(world, { idempotency, evaluatedAtMs: Math.floor(clock.nowMs()) });
    expect(await store.verify.commitDecisions([given])).toEqual(['STORED']);
    await pushAt(Math.floor(clock.nowMs()), 'trial');
    await step(-DAY_AND_MORE_MS);
    await repairClock(stores.url, Date.now());
    const find = () => store.verify.findIdempotent(world.relyingParty.did, idempotency.key);
    expect((await find())?.receipt.receiptId).toBe(given.receiptId);
    await step(601_000);
    expect(await find()).toBeNull();
    await pushAt(Math.floor(clock.nowMs()), 'paid');
    expect((await store.entitlements.find(orgId))?.reason).toBe('paid');
  });

  it("limits the first use and the end of the service's keys to now", async () => {
    const kid = `did:web:svc.example#receipt-${Date.now()}`;
    await step(DAY_AND_MORE_MS);
    await store.transaction(async ({ serviceKeys }) => {
      await serviceKeys.remember(kid, 'z6MkNew');
      await serviceKeys.end(kid, 'compromised');
    });
    await step(-DAY_AND_MORE_MS);
    await repairClock(stores.url, Date.now());
    const key = (await store.serviceKeys.list()).find((one) => one.kid === kid);
    expect(key?.firstSeenAtMs).toBeLessThanOrEqual(Date.now() + 1);
    expect(key?.compromisedAtMs).toBeLessThanOrEqual(Date.now() + 1);
    for (const table of ['service_keys', 'service_key_ends'])
      await expect(runSql(stores.url, `delete from ${table}`)).rejects.toThrow(/append-only/);
  });

  it('makes approval requests from ahead expire, and limits the dates of their decisions to now', async () => {
    const ask = () =>
      store.approvals.insert({
        requestId: `arq_${encodeUlid(Date.now(), randomBytes(10))}`,
        ...{ relyingParty: world.relyingParty.did, principal: world.principal.did },
        ...{ grantId: newGrantId(), agent: newAgent(), actionHash: hashOf('{}'), expiresInSeconds: 900 },
        ...{ action: { type: 'commerce:purchase', resource: 'order/7', amount: 900, currency: 'USD' } },
        ...{ receiptId: 'drc_01ARZ3NDEKTSV4RRFFQ69G5FAV' as ReceiptId, proof: 'a.b.c' },
      });
    const before = [await ask(), await ask()] as const;
    await step(600_000);
    const ahead = [await ask(), await ask()] as const;
    const untilMs = Date.now() + 3_600_000;
    for (const { requestId } of [before[1], ahead[1]])
      await store.approvals.decide(requestId, {
        state: 'approved',
        grant: 'a.b.c',
        grantId: newGrantId(),
        untilMs,
      });
    await step(-600_000);
    await repairClock(stores.url, Date.now());
    const nowMs = Date.now() + 1;
    const found = [];
    for (const { requestId } of [...before, ...ahead]) found.push(await store.approvals.find(requestId));
    expect(found.map((one) => one?.state)).toEqual(['pending', 'approved', 'expired', 'approved']);
    expect(found.filter((one) => Math.max(one?.requestedAtMs ?? 0, one?.decidedAtMs ?? 0) > nowMs)).toEqual(
      [],
    );
    expect(found[0]).toEqual(before[0]);
    const change = `update approval_requests set requested_at = now() where request_id = $1`;
    await expect(runSql(stores.url, change, [ahead[1].requestId])).rejects.toThrow();
  });

  it('retracts the checkpoint of an unfinished day, with a note for the fence, also after a restore put it back', async () => {
    const day = daysAgo(0);
    await moveFirstDay(stores.url, day);
    const hash = hashOf('jws');
    const checkpoint = {
      ...{ day, treeSize: 0, root: hash, previousRoot: null, firstReceiptId: null, lastReceiptId: null },
      ...{ kid: 'kid', jws: 'jws', hash, contentRoot: hash },
    };
    const putBack = () => store.transaction(({ restores }) => restores.reinstate(checkpoint));
    /** Lists the notes and deletes them, as after copying them. */
    const takeCopies = async () => {
      const notes = await store.lineage.listNotes({ revoked: 0, others: 0 }, Number.MAX_SAFE_INTEGER, 1_000);
      await runSql(stores.url, 'delete from fence_notes');
      return notes.filter(({ kind }) => kind === 'checkpoint').map(({ name, text }) => ({ name, text }));
    };
    await putBack();
    expect(await takeCopies()).toEqual([{ name: day, text: expect.stringContaining('"jws":"jws"') }]);
    for (const _ of ['as it was', 'put back']) {
      expect(await repairClock(stores.url, Date.now())).toMatchObject({ reopenedDays: 1 });
      expect(await takeCopies()).toEqual([{ name: day, text: null }]);
      expect(await store.restores.isRetracted(hash)).toBe(true);
      await putBack();
    }
    await repairClock(stores.url, Date.now());
  });

  it('moves the first day of a deployment made ahead back to today', async () => {
    await moveFirstDay(stores.url, daysAgo(-3));
    await repairClock(stores.url, Date.now());
    expect(await runSql(stores.url, 'select first_day::text as day from deployment')).toEqual([
      { day: daysAgo(0) },
    ]);
  });

  const url = 'https://status.example/repaired.example/1';
  const collectAt = (nowMs: () => number) =>
    collectEvidence({ store, clock: { nowMs, resync: async () => {} } }, new AbortController().signal);
  const insertLoose = async (text: string) => {
    const hash = hashOf(text);
    await store.evidence.insertLoose({ hash, contentType: 'application/vc+jwt', body: Buffer.from(text) });
    return hash;
  };

  it('skips no Receipt: evidence that is named later, and lists that are served later, are kept', async () => {
    await step(DAY_AND_MORE_MS);
    await store.evidence.keepServedList(url, await insertLoose('served early'), clock.nowMs());
    await collectAt(() => clock.nowMs());
    await step(-DAY_AND_MORE_MS);
    await repairClock(stores.url, Date.now());

    const [named, served] = [await insertLoose('named later'), await insertLoose('served later')];
    await runSql(stores.url, `update served_lists set kept_at = kept_at - interval '61 seconds'`);
    await store.evidence.keepServedList(url, served, Date.now());
    const payload = encodeBase64urlText(JSON.stringify({ status: { credential_hash: named } }));
    const naming = denyCommit(world, { jws: `e30.${payload}.c2ln` });
    await expect.poll(() => store.verify.commitDecisions([naming])).toEqual(['STORED']);
    await collectAt(Date.now);
    await runSql(stores.url, `update loose_evidence set unused_since = unused_since - interval '2 hours'`);
    await step(3_600_000);
    await collectAt(() => clock.nowMs());
    for (const hash of [named, served]) expect(await store.evidence.find(hash)).not.toBeNull();
  });
});
