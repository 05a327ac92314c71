/**
 * Which events are emitted, for which audience and in which order: the outbox, the log, and the deliveries opened from
 * it.
 */
import { applyConsumption, emptyBalances } from '@svc/protocol';
import {
  type DecisionCommit,
  type EventAudience,
  type EventType,
  forgetEvents,
  type GrantRecord,
  type PauseTarget,
  RETRY_SECONDS,
  type TakeBounds,
  type TakenDelivery,
} from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { budgetCommit } from '@svc/testkit/store/budgets';
import { insertSubscription, listTold, sequenceAll } from '@svc/testkit/store/events';
import { machineClock } from '@svc/testkit/store/movable-clock';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertOrg,
  insertTransferred,
  newAuditId,
  newOutcome,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
let grant: GrantRecord;
let rp: EventAudience;
let principal: EventAudience;

beforeEach(async () => {
  await runSql(stores.url, 'truncate event_subscriptions, event_outbox, event_log cascade');
  world = await createWorld(stores.first);
  grant = await insertGrant(world);
  rp = `rp ${world.relyingParty.did}`;
  principal = `principal ${world.principal.did}`;
});

const DECISIONS: readonly EventType[] = ['decision.allow', 'decision.deny'];
const want = (audience: EventAudience, types: readonly EventType[] = DECISIONS) =>
  insertSubscription(stores.first, audience, types);
const commit = (...decisions: DecisionCommit[]) => stores.first.verify.commitDecisions(decisions);
const typesFor = async (audience: string) => (await listTold(stores.url, audience)).map(({ type }) => type);
const dataFor = async (audience: string) =>
  (await listTold(stores.url, audience)).map(({ data }) => JSON.parse(data) as Record<string, unknown>);
const revoke = async (store = stores.first) => {
  await store.grants.recordRevocation([grant.id]);
  await store.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
};
const NONE = { newcomers: 0, others: 0 };
const ALL: TakeBounds = { atOnce: 1_000, ofTenant: 1_000, underWay: NONE, forSeconds: 60, pushes: false };
const takeAll = async (subscriptionId: string): Promise<readonly TakenDelivery[]> => {
  const store = stores.first;
  await sequenceAll(stores.url, stores.second);
  await store.eventDeliveries.open(subscriptionId, 1_000);
  return store.eventDeliveries.take(1_000, ALL);
};

describe('decision events are emitted', () => {
  it('for no audience while nobody subscribes to them', async () => {
    await commit(allowCommit(world, grant), denyCommit(world));
    const [row] = await runSql(stores.url, 'select count(*)::integer as count from event_outbox');
    expect(row).toEqual({ count: 0 });
  });

  it('for the subscribed relying party: with ids only, and with the event id derived from the Receipt id', async () => {
    await want(rp);
    const allow = allowCommit(world, grant);
    const deny = denyCommit(world);
    await commit(allow, deny);
    expect(await listTold(stores.url, rp)).toEqual([
      {
        event_id: `evt_${allow.receiptId.slice(4)}`,
        audience: rp,
        type: 'decision.allow',
        order_key: grant.id,
        data: expect.any(String),
      },
      expect.objectContaining({ type: 'decision.deny', event_id: `evt_${deny.receiptId.slice(4)}` }),
    ]);
    expect((await dataFor(rp))[0]).toEqual({
      receipt_id: allow.receiptId,
      relying_party: world.relyingParty.did,
      principal: world.principal.did,
      grant_id: grant.id,
      agent: grant.agent,
    });
  });

  it('for the Principal that signed the Grant, and not for a Principal that is only named', async () => {
    await want(principal);
    await commit(
      allowCommit(world, grant),
      denyCommit(world, { grantId: grant.id, principal: null }),
      denyCommit(world, { grantId: grant.id, principal: world.principal.did }),
    );
    expect(await typesFor(principal)).toEqual(['decision.allow', 'decision.deny']);
  });

  it('for the orgs of both parties, and once when both belong to the same org', async () => {
    const orgId = await insertOrg(stores.first);
    const ofOrg = await createWorld(stores.first, orgId);
    await stores.first.principals.setOrg(ofOrg.principal.did, orgId);
    const principalNow = await stores.first.principals.find(ofOrg.principal.did);
    const asMember = { ...ofOrg, principal: principalNow ?? ofOrg.principal };
    await want(`org ${orgId}`);
    await commit(allowCommit(asMember, await insertGrant(asMember)), allowCommit(world, grant));
    expect(await typesFor(`org ${orgId}`)).toEqual(['decision.allow']);
  });

  it('only for the types that are subscribed, and only for the parties of the decision', async () => {
    await want(rp, ['decision.deny']);
    const other = await createWorld(stores.first);
    await want(`rp ${other.relyingParty.did}`);
    await commit(allowCommit(world, grant), denyCommit(world));
    expect(await typesFor(rp)).toEqual(['decision.deny']);
    expect(await typesFor(`rp ${other.relyingParty.did}`)).toEqual([]);
  });

  it('only for decisions that are stored', async () => {
    await want(rp);
    const allow = allowCommit(world, grant);
    const replay = allowCommit(world, grant, { spend: allow.spend });
    expect(await commit(allow, replay)).toEqual(['STORED', 'REPLAY']);
    expect(await typesFor(rp)).toEqual(['decision.allow']);
  });
});

describe('a budget.low event is emitted', () => {
  it('once per subscribed percentage, when the remaining total falls to it', async () => {
    await insertSubscription(stores.first, principal, ['budget.low'], 50);
    await insertSubscription(stores.first, principal, ['budget.low'], 10);
    const budget = { limits: { total: 100, perPeriod: null, uses: null }, period: null };
    let balances = emptyBalances(grant.id);
    for (const amount of [40, 20, 20, 15]) {
      const decision = budgetCommit(world, grant, balances, { budget, amount });
      expect(await commit(decision)).toEqual(['STORED']);
      if (decision.budget?.consumption) balances = applyConsumption(balances, decision.budget.consumption);
    }
    expect((await dataFor(principal)).map(({ percent }) => percent)).toEqual([50, 10]);
  });

  it('only for a Principal with a proven domain, not for one that is merely registered', async () => {
    await insertSubscription(stores.first, principal, ['budget.low'], 50);
    const budget = { limits: { total: 100, perPeriod: null, uses: null }, period: null };
    await stores.first.principals.recordVerification(world.principal.did, {
      state: 'unverified',
      proven: false,
    });
    const low = budgetCommit(
      world,
      grant,
      emptyBalances(grant.id),
      { budget, amount: 60 },
      { usedPrincipal: { did: world.principal.did, version: world.principal.version + 1 } },
    );
    expect(await commit(low)).toEqual(['STORED']);
    expect(await dataFor(principal)).toEqual([]);
  });
});

describe('other events', () => {
  it('grant.revoked is delivered to the Principal and to relying parties that verified the Grant, and to no other', async () => {
    const other = await createWorld(stores.first);
    const mine = await want(rp, ['grant.revoked']);
    const theirs = await want(`rp ${other.relyingParty.did}`, ['grant.revoked']);
    const own = await want(principal, ['grant.revoked']);
    await commit(allowCommit(world, grant));
    await revoke();
    const taken = [
      ...(await takeAll(mine.subscriptionId)),
      ...(await takeAll(theirs.subscriptionId)),
      ...(await takeAll(own.subscriptionId)),
    ];
    expect(taken.map(({ subscriptionId, type }) => ({ subscriptionId, type }))).toEqual([
      { subscriptionId: mine.subscriptionId, type: 'grant.revoked' },
      { subscriptionId: own.subscriptionId, type: 'grant.revoked' },
    ]);
    expect(taken[0]?.eventId).toBe(taken[1]?.eventId);
  });

  it('grant.revoked is not delivered to a relying party that has only seen a forged Grant with this id', async () => {
    const mine = await want(rp, ['grant.revoked']);
    await commit(denyCommit(world, { grantId: grant.id, principal: null }));
    await revoke();
    expect(await takeAll(mine.subscriptionId)).toEqual([]);
  });

  it('key, Agent, verification and outcome events are emitted for the Principal, once per change', async () => {
    const { first } = stores;
    const [{ kid } = { kid: '' }] = world.principal.keys;
    await want(principal, [
      'key.retired',
      'key.compromised',
      'agent.disabled',
      'principal.unverified',
      'principal.verified',
      'outcome.reported',
    ]);
    const allow = allowCommit(world, grant);
    await commit(allow);
    await first.principals.setKeyState(world.principal.did, kid, 'retired');
    await first.principals.setKeyState(world.principal.did, kid, 'compromised');
    await first.principals.recordVerification(world.principal.did, { state: 'unverified', proven: false });
    await first.principals.recordVerification(world.principal.did, { state: 'unverified', proven: false });
    await first.principals.recordVerification(world.principal.did, { state: 'verified', proven: true });
    await first.outcomes.insert(newOutcome(allow.receiptId, 1), null);
    await first.audit.insert({
      eventId: newAuditId(),
      actor: { kind: 'admin', did: null, keyId: null },
      action: 'agent.disable',
      target: grant.agent,
      requestId: null,
      details: { principal: world.principal.did },
    });
    expect(await typesFor(principal)).toEqual([
      'key.retired',
      'key.compromised',
      'principal.unverified',
      'principal.verified',
      'outcome.reported',
      'agent.disabled',
    ]);
  });

  it('pause.changed is emitted once per change: for the owner of the paused subject, for everyone if it is the service', async () => {
    const { pauses } = stores.first;
    await want(principal, ['pause.changed']);
    await want(rp, ['pause.changed']);
    const actor = { kind: 'admin', did: null, keyId: null } as const;
    const set = (target: PauseTarget, isPaused: boolean) =>
      pauses.set({ ...target, isPaused, reason: null, actor });
    const ofGrant = { scope: 'grant', owner: world.principal.did, subject: grant.id } as const;
    const { did } = world.relyingParty;
    const ofShop = { scope: 'relying_party', owner: did, subject: did } as const;
    const ofAll = { scope: 'service', owner: 'service', subject: 'service' } as const;
    for (const target of [ofGrant, ofShop, ofAll]) {
      await set(target, false);
      await set(target, true);
      await set(target, true);
      await set(target, false);
    }
    const told = ({ scope, subject }: PauseTarget) => [
      { scope, subject, paused: true },
      { scope, subject, paused: false },
    ];
    expect(await dataFor(principal)).toEqual(told(ofGrant));
    expect(await dataFor(rp)).toEqual(told(ofShop));
    expect(await dataFor('everyone')).toEqual(told(ofAll));
  });

  it('a transaction that is rolled back emits no event', async () => {
    await want(principal, ['grant.revoked', 'key.retired']);
    await expect(
      stores.first.transaction(async (tx) => {
        await tx.principals.setKeyState(world.principal.did, world.principal.keys[0]?.kid ?? '', 'retired');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await typesFor(principal)).toEqual([]);
  });
});

describe('the event order', () => {
  it('is that of transactions: no event moves into the log past a transaction under way', async () => {
    await want(principal, ['key.retired', 'decision.deny']);
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      const data = JSON.stringify({ kid: 'first', principal: world.principal.did });
      await session.query(`select svc_emit_event('key.retired', 'first', $1, null, svc_now(), $2)`, [
        world.principal.did,
        data,
      ]);
      await commit(denyCommit(world, { principal: world.principal.did }));
      expect(await stores.second.eventLog.sequence(100)).toBe(0);
      await session.query('commit');
    });
    await sequenceAll(stores.url, stores.second);
    expect(await typesFor(principal)).toEqual(['key.retired', 'decision.deny']);
  });

  it('is that of transactions, also when one commits and another begins and commits during one sequencing call', async () => {
    await want(principal, ['key.retired', 'decision.deny']);
    await withSession(stores.url, (first) =>
      withSession(stores.url, async (holder) => {
        await first.query('begin');
        const data = JSON.stringify({ kid: 'first', principal: world.principal.did });
        await first.query(`select svc_emit_event('key.retired', 'first', $1, null, svc_now(), $2)`, [
          world.principal.did,
          data,
        ]);
        // A transaction that began after the first one and has ended. It separates what was written before it from what
        // is written after the first look.
        await holder.query('select pg_current_xact_id()');
        await holder.query('begin; lock table event_log in access exclusive mode');
        const moving = stores.second.eventLog.sequence(100);
        await untilWaiting(holder);
        await first.query('commit');
        await commit(denyCommit(world, { principal: world.principal.did }));
        await holder.query('rollback');
        await moving;
      }),
    );
    await sequenceAll(stores.url, stores.second);
    expect(await typesFor(principal)).toEqual(['key.retired', 'decision.deny']);
  });

  const RACES = sampled({ quick: 6, deep: 200 });
  it(`has no ALLOW after the revocation of its Grant in ${RACES} races`, async () => {
    await want(principal, ['grant.revoked', 'decision.allow']);
    for (let race = 0; race < RACES; race++) {
      grant = await insertGrant(world);
      let isOver = false;
      const write = async () => {
        while (!isOver) await commit(allowCommit(world, grant));
      };
      const writers = [write(), write(), write()];
      const sequence = (async () => {
        while (!isOver) await stores.second.eventLog.sequence(100);
      })();
      await commit(allowCommit(world, grant));
      await revoke(stores.second);
      isOver = true;
      await Promise.all([...writers, sequence]);
    }
    await sequenceAll(stores.url, stores.second);
    const last = new Map<string | null, string>();
    for (const { order_key, type } of await listTold(stores.url, principal)) last.set(order_key, type);
    expect([...last.values()]).toEqual(Array(RACES).fill('grant.revoked'));
  }, 120_000);
});

describe('deliveries', () => {
  const deliver = (
    taken: TakenDelivery | undefined,
    retrySeconds: number | null = null,
    isDelivered = true,
  ) =>
    stores.first.eventDeliveries.noteOutcome(
      taken as TakenDelivery,
      {
        isDelivered,
        isGone: false,
        status: isDelivered ? 200 : 500,
        problem: isDelivered ? null : 'answered 500',
        retrySeconds,
        endpointWaitSeconds: 0,
      },
      5,
    );

  it('of one Grant are taken one after the other, those of other Grants in parallel', async () => {
    const second = await insertGrant(world);
    const { subscriptionId } = await want(rp);
    await commit(allowCommit(world, grant), allowCommit(world, grant), allowCommit(world, second));
    const [first, other, ...more] = await takeAll(subscriptionId);
    expect(more).toEqual([]);
    expect([first, other].map((taken) => JSON.parse(taken?.data ?? '{}').grant_id)).toEqual([
      grant.id,
      second.id,
    ]);
    expect(await takeAll(subscriptionId)).toEqual([]);
    await deliver(first);
    expect((await takeAll(subscriptionId)).map(({ position }) => position)).toEqual([
      (first?.position ?? 0) + 1,
    ]);
  });

  it('beyond the window wait in the log, and none is lost', async () => {
    const store = stores.first;
    const { subscriptionId } = await want(rp);
    await commit(...Array.from({ length: 12 }, () => denyCommit(world)));
    await sequenceAll(stores.url, stores.second);
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      await store.eventDeliveries.open(subscriptionId, 5);
      const taken = await store.eventDeliveries.take(1, { ...ALL, atOnce: 10 });
      seen.push(...taken.map(({ eventId }) => eventId));
      const [found] = await store.eventSubscriptions.list(rp);
      expect(found?.waiting).toBeLessThanOrEqual(5);
      for (const one of taken) await deliver(one);
    }
    expect(new Set(seen).size).toBe(12);
  });

  it('have the same event ids when replayed, and start at the requested event', async () => {
    const store = stores.first;
    const { subscriptionId } = await want(rp);
    await commit(...Array.from({ length: 4 }, () => denyCommit(world)));
    const before = await takeAll(subscriptionId);
    for (const one of before) await deliver(one);
    const third = before[2] as TakenDelivery;
    const position = await store.eventLog.findPositionOf(subscriptionId, third.eventId);
    await store.eventSubscriptions.readAgain(subscriptionId, position ?? 0);
    expect((await takeAll(subscriptionId)).map(({ eventId }) => eventId)).toEqual(
      before.slice(2).map(({ eventId }) => eventId),
    );
  });

  it('of a failing endpoint are tried one at a time, those of a healthy endpoint as before', async () => {
    const store = stores.first;
    const failing = await want(rp);
    const healthy = await want(principal);
    const decisions = Array.from({ length: 3 }, () => denyCommit(world, { principal: world.principal.did }));
    await commit(...decisions);
    await sequenceAll(stores.url, stores.second);
    for (const { subscriptionId } of [failing, healthy])
      await store.eventDeliveries.open(subscriptionId, 100);
    const [first] = (await store.eventDeliveries.take(100, { ...ALL, atOnce: 1 })).filter(
      ({ subscriptionId }) => subscriptionId === failing.subscriptionId,
    );
    await deliver(first, 5, false);
    const taken = await store.eventDeliveries.take(100, { ...ALL, atOnce: 3 });
    expect(taken.map(({ subscriptionId }) => subscriptionId)).toEqual(Array(2).fill(healthy.subscriptionId));
  });

  it('of many slow endpoints of one audience do not delay those of another audience', async () => {
    const store = stores.first;
    const slow = await Promise.all(Array.from({ length: 40 }, () => want(rp)));
    const decisions = () =>
      Array.from({ length: 3 }, () => denyCommit(world, { principal: world.principal.did }));
    await commit(...decisions());
    const other = await want(principal);
    await commit(...decisions());
    await sequenceAll(stores.url, stores.second);
    for (const { subscriptionId } of [...slow, other]) await store.eventDeliveries.open(subscriptionId, 100);
    const bounds: TakeBounds = { ...ALL, atOnce: 4, ofTenant: 25 };
    const taken = await store.eventDeliveries.take(256, bounds);
    const of = (rows: readonly TakenDelivery[]) =>
      rows.filter(({ subscriptionId }) => subscriptionId === other.subscriptionId).length;
    expect({ slow: taken.length - of(taken), other: of(taken) }).toEqual({ slow: 25, other: 3 });
    // No more of them are taken until these are answered.
    expect(await store.eventDeliveries.take(256, bounds)).toEqual([]);
  });

  it('of an endpoint with deliveries under way come after those of an endpoint with none', async () => {
    const store = stores.first;
    const busy = await want(rp);
    await commit(...Array.from({ length: 6 }, () => denyCommit(world)));
    const idle = await want(principal);
    await commit(denyCommit(world, { principal: world.principal.did }));
    await sequenceAll(stores.url, stores.second);
    for (const { subscriptionId } of [busy, idle]) await store.eventDeliveries.open(subscriptionId, 100);
    await store.eventDeliveries.take(1, ALL);
    expect(await store.eventDeliveries.take(1, ALL)).toMatchObject([{ subscriptionId: idle.subscriptionId }]);
  });

  it('that fail together put their endpoint off once, and record their problem', async () => {
    const { subscriptionId } = await want(rp);
    await commit(...Array.from({ length: 32 }, () => denyCommit(world)));
    const anHourLater = () =>
      runSql(
        stores.url,
        `with d as (update event_deliveries set taken_at = taken_at - interval '1 hour')
         update event_subscriptions set not_before = not_before - interval '1 hour'`,
      );
    for (const one of await takeAll(subscriptionId)) {
      await deliver(one, 5, false);
      await anHourLater();
    }
    expect(await runSql(stores.url, 'select failures from event_subscriptions')).toEqual([{ failures: 1 }]);
    expect(await stores.first.eventSubscriptions.list(rp)).toMatchObject([{ lastProblem: 'answered 500' }]);
  });

  /** Moves everything that the endpoint did back by `seconds`. */
  const DAY = 86_400;
  const secondsLater = (seconds: number) =>
    runSql(
      stores.url,
      `update event_subscriptions set failing_since = failing_since - make_interval(secs => $1),
         failing_day_at = failing_day_at - make_interval(secs => $1)`,
      [seconds],
    );
  const attemptsOf = async (count: number) => {
    const { subscriptionId } = await want(rp);
    await commit(...Array.from({ length: count }, () => denyCommit(world)));
    const taken = [...(await takeAll(subscriptionId))];
    return { subscriptionId, fail: () => deliver(taken.shift(), 5, false) };
  };
  const disableFailing = () =>
    stores.first.eventDeliveries.disableFailing(10, { afterDays: 5, pushes: false, nowMs: Date.now() });

  it('stop five days after the endpoint began to fail: the subscription is disabled with the reason "failing"', async () => {
    const { subscriptionId, fail } = await attemptsOf(4);
    for (let moment = 0; moment < 3; moment++) {
      expect(await fail()).toBeNull();
      await secondsLater((5 * DAY) / 3);
    }
    expect(await fail()).toBe('failing');
    const [found] = await stores.first.eventSubscriptions.list(rp);
    expect(found).toMatchObject({ disabledBecause: 'failing' });
    expect(await takeAll(subscriptionId)).toEqual([]);
  });

  it('of an endpoint that failed at only two moments do not disable it, however far apart these are', async () => {
    const { fail } = await attemptsOf(4);
    expect(await fail()).toBeNull();
    expect(await fail()).toBeNull();
    await secondsLater(30 * DAY);
    expect(await fail()).toBeNull();
    expect(await disableFailing()).toEqual([]);
    expect(await stores.first.eventSubscriptions.list(rp)).toMatchObject([{ disabledAtMs: null }]);
  });

  it('that have used up their retries also disable the endpoint, five days after it began to fail', async () => {
    const { subscriptionId, fail } = await attemptsOf(RETRY_SECONDS.length + 1);
    for (const seconds of RETRY_SECONDS) {
      expect(await fail()).toBeNull();
      await secondsLater(seconds * 0.9);
    }
    expect(await fail()).toBeNull();
    await secondsLater(2 * DAY);
    expect(await disableFailing()).toEqual([]);
    await secondsLater(DAY);
    expect(await disableFailing()).toMatchObject([
      { subscriptionId, lastProblem: 'answered 500', push: null },
    ]);
    expect(await stores.first.eventSubscriptions.list(rp)).toMatchObject([{ disabledBecause: 'failing' }]);
    expect(await disableFailing()).toEqual([]);
  });

  describe('when endpoints have failed for five days', () => {
    const failedFor = async (days: number) => {
      const { subscriptionId } = await want(rp);
      await runSql(
        stores.url,
        `update event_subscriptions set failing_days = 3, failing_since = svc_now() - make_interval(days => $2)
         where subscription_id = $1`,
        [subscriptionId, days],
      );
      return subscriptionId;
    };
    const disable = async (limit: number, pushes = true) => {
      const of = { afterDays: 5, pushes, nowMs: Date.now() };
      return (await stores.first.eventDeliveries.disableFailing(limit, of)).map(
        ({ subscriptionId }) => subscriptionId,
      );
    };

    it('disableFailing disables at most its limit per call, the longest-failing first', async () => {
      const [third, first, second] = [await failedFor(6), await failedFor(8), await failedFor(7)];
      expect((await disable(2)).sort()).toEqual([first, second].sort());
      expect(await disable(2)).toEqual([third]);
      expect(await disable(2)).toEqual([]);
    });

    it('a worker that sends no pushes does not disable push subscriptions', async () => {
      const pushed = await failedFor(6);
      await runSql(stores.url, `update event_subscriptions set method = 'push'`);
      expect(await disable(10, false)).toEqual([]);
      expect(await disable(10)).toEqual([pushed]);
    });

    it('a row locked by another transaction is skipped, also by the previous version, and is disabled later', async () => {
      const [held, free] = [await failedFor(8), await failedFor(6)];
      const lock = 'select from event_subscriptions where subscription_id = $1 for no key update';
      const ofBefore = () =>
        runSql(stores.url, `select subscription_id as id from svc_disable_failing(interval '5 days', $1)`, [
          Date.now(),
        ]);
      await withSession(stores.url, async (session) => {
        await session.query('begin');
        await session.query(lock, [held]);
        expect(await disable(10)).toEqual([free]);
        expect(await ofBefore()).toEqual([]);
        await session.query('rollback');
      });
      expect(await ofBefore()).toEqual([{ id: held }]);
    });
  });

  it('are deleted with the subscriptions and events of a name that is transferred', async () => {
    const { first } = stores;
    await want(rp);
    await want(principal);
    await commit(denyCommit(world), denyCommit(world));
    await first.eventLog.sequence(1);
    const orgId = await insertOrg(first);
    await insertTransferred(first, 'principal.verify', world.principal.did, orgId);
    expect(await first.eventSubscriptions.list(principal)).toEqual([]);
    expect(await first.eventSubscriptions.list(rp)).toHaveLength(1);
    await insertTransferred(first, 'relying_party.update', world.relyingParty.did, orgId);
    expect(await first.eventSubscriptions.list(rp)).toEqual([]);
    // The next holder of the name cannot have the events replayed.
    const { subscriptionId } = await want(rp);
    await stores.first.eventSubscriptions.readAgain(subscriptionId, 1);
    expect(await takeAll(subscriptionId)).toEqual([]);
    await stores.first.eventLog.forget(100, 30, Date.now());
    expect(await listTold(stores.url, rp)).toEqual([]);
  });

  it('are not needed for forgetEvents: without deliverers, it moves the outbox into the log', async () => {
    await want(rp);
    await commit(denyCommit(world));
    const left = () => runSql(stores.url, 'select from event_outbox');
    // An open transaction anywhere on the server may still hold events back.
    while ((await left()).length > 0)
      await forgetEvents({ store: stores.first, clock: machineClock }, new AbortController().signal);
    expect(await listTold(stores.url, rp)).toHaveLength(1);
  });

  it('are not needed for forgetEvents: it forgets old events even if verifiers of a revocation cannot be looked up', async () => {
    await want(rp);
    await commit(denyCommit(world));
    await sequenceAll(stores.url, stores.second);
    await runSql(stores.url, `update event_log set logged_at = svc_now() - interval '31 days'`);
    const failing = {
      ...stores.first.revocationNotices,
      nextToTell: () => Promise.reject(new Error('canceled')),
    };
    const store = { ...stores.first, revocationNotices: failing };
    await expect(forgetEvents({ store, clock: machineClock }, new AbortController().signal)).rejects.toThrow(
      'canceled',
    );
    expect(await listTold(stores.url, rp)).toEqual([]);
  });

  it('are forgotten with their events after 30 days', async () => {
    const store = stores.first;
    const { subscriptionId } = await want(rp);
    await commit(denyCommit(world));
    await takeAll(subscriptionId);
    await runSql(stores.url, `update event_log set logged_at = svc_now() - interval '31 days'`);
    expect(await store.eventLog.forget(100, 30, Date.now())).toBe(1);
    expect(
      await store.eventDeliveries.list(subscriptionId, { beforePosition: undefined, limit: 10 }),
    ).toEqual([]);
  });
});
