/**
 * The cost of a look for due deliveries and of a revocation, whichever tenant makes it expensive, and the order that
 * deliveries keep meanwhile.
 */
import type { OrgId } from '@svc/protocol';
import type { EventAudience, EventType, GrantRecord, TakenDelivery } from '@svc/service';
import { isDeep, sampled, sampleOf } from '@svc/testkit/sampled';
import { insertSubscription, listTold, openBehind, sequenceAll } from '@svc/testkit/store/events';
import { withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertOrg,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const stores = withStores();
let world: World;
let grant: GrantRecord;
let rp: EventAudience;

beforeEach(async () => {
  await runSql(stores.url, 'truncate event_subscriptions, event_outbox, event_log, event_due cascade');
  world = await createWorld(stores.first);
  grant = await insertGrant(world);
  rp = `rp ${world.relyingParty.did}`;
});

const DECISIONS: readonly EventType[] = ['decision.allow', 'decision.deny'];
const want = (audience: EventAudience, types = DECISIONS) =>
  insertSubscription(stores.first, audience, types);
const openAll = async (): Promise<void> => {
  await sequenceAll(stores.url, stores.second);
  await openBehind(stores.first);
};
const NONE = { newcomers: 0, others: 0 };
const take = (limit = 1_000, atOnce = 1_000, ofTenant = 1_000, underWay = NONE) =>
  stores.first.eventDeliveries.take(limit, { atOnce, ofTenant, underWay, forSeconds: 60, pushes: false });
const note = (taken: TakenDelivery | undefined, isDelivered = true) =>
  stores.first.eventDeliveries.noteOutcome(
    taken as TakenDelivery,
    {
      ...{ isDelivered, isGone: false, status: isDelivered ? 200 : 500, problem: null },
      ...{ retrySeconds: null, endpointWaitSeconds: 0 },
    },
    5,
  );
const denies = (count: number, grantId: GrantRecord['id'] | null = grant.id) =>
  stores.first.verify.commitDecisions(Array.from({ length: count }, () => denyCommit(world, { grantId })));

/** Endpoints of one audience, each with a delivery that is due. */
const insertDue = async (kind: 'failing' | 'healthy', count: number, audience: EventAudience) => {
  await runSql(
    stores.url,
    `with told as (
       insert into event_log (event_id, audience, type, occurred_at, data)
       values ('evt_' || $1, 'rp did:web:nobody.example', 'decision.deny', svc_now(), '{}')
       returning position
     ), subscribed as (
       insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to, failing_since)
       select 'whs_' || $1 || i, $3, 'https://hooks.example/svc', '{decision.deny}', 20, position,
         case $1 when 'failing' then svc_now() end
       from told, generate_series(1, $2) as i
       returning subscription_id, read_to
     )
     insert into event_deliveries (subscription_id, position, event_id, type)
     select subscription_id, read_to, 'evt_' || $1, 'decision.deny' from subscribed`,
    [kind, count, audience],
  );
  await runSql(
    stores.url,
    `select svc_note_due(subscription_id) from event_subscriptions where subscription_id like 'whs_' || $1 || '%'`,
    [kind],
  );
};

describe('taking due deliveries', () => {
  const rowsOfALook = (bounds: string) =>
    withSession(stores.url, async (session) => {
      await session.query('analyze event_deliveries, event_subscriptions, event_log');
      await session.query('begin');
      const { rows: taken } = await session.query(
        `select from svc_take_due(${bounds}, interval '60 seconds')`,
      );
      const { rows } = await session.query<{ read: number }>(
        `select (idx_tup_fetch + seq_tup_read)::integer as read from pg_stat_xact_user_tables
         where relname = 'event_deliveries'`,
      );
      await session.query('rollback');
      return { taken: taken.length, read: rows[0]?.read ?? 0 };
    });

  it('reads a few rows per endpoint, however many deliveries wait behind the first one or are under way', async () => {
    const ENDPOINTS = sampled({ quick: 25, deep: 40 });
    const WAITING = sampled({ quick: 100, deep: 200 });
    for (let i = 0; i < ENDPOINTS; i++) await want(rp);
    await denies(WAITING);
    await openAll();
    const first = await rowsOfALook('100, 32, 1000');
    expect(first.taken).toBe(ENDPOINTS);
    expect(first.read).toBeLessThan(ENDPOINTS * 8);
    expect(await take()).toHaveLength(ENDPOINTS);
    const second = await rowsOfALook('100, 32, 1000');
    expect(second.taken).toBe(0);
    expect(second.read).toBeLessThan(ENDPOINTS * 8);
  });

  it('reads no rows of idle, disabled, polled or backing-off subscriptions, and neither does svc_due_since', async () => {
    // Each kind must be more rows than the 50 that may be read: of the failing ones a tenth backs off by delivery.
    const [IDLE, PASSED, FAILING] = sampled({ quick: [2_000, 600, 600], deep: [20_000, 5_000, 1_000] });
    await want(rp);
    await denies(3, null);
    await openAll();
    await runSql(
      stores.url,
      `insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to)
       select 'whs_idle' || i, 'rp did:web:idle-' || i || '.example', 'https://hooks.example/svc', '{decision.deny}', 20,
         (select max(position) from event_log)
       from generate_series(1, $1) as i`,
      [IDLE],
    );
    await runSql(
      stores.url,
      `with passed as (
         insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to, disabled_at, disabled_because, method)
         select 'whs_passed' || i, 'rp did:web:passed-' || i || '.example', 'https://hooks.example/svc', '{decision.deny}', 20,
           position, case when method = 'webhook' then svc_now() end, case when method = 'webhook' then 'owner' end, method
         from generate_series(1, $1) as i, (select max(position) as position from event_log) as l,
           lateral (select case i % 2 when 0 then 'webhook' else 'poll' end as method) as m
         returning subscription_id, read_to
       )
       insert into event_deliveries (subscription_id, position, event_id, type)
       select p.subscription_id, l.position, l.event_id, l.type from passed p join event_log l on l.position = p.read_to`,
      [PASSED],
    );
    await insertDue('failing', FAILING, 'rp did:web:failing.example');
    await runSql(
      stores.url,
      `update event_deliveries set next_attempt_at = svc_now() + interval '1 hour' where subscription_id like 'whs_failing%0'`,
    );
    await runSql(
      stores.url,
      `update event_subscriptions set not_before = svc_now() + interval '1 hour'
       where failing_since is not null and subscription_id not like '%0'`,
    );
    await runSql(stores.url, 'analyze event_deliveries, event_subscriptions');
    // Puts off the endpoints that are not due yet.
    await take(0);
    await runSql(stores.url, 'vacuum analyze event_due');
    const scansAndRows = (text: string) =>
      withSession(stores.url, async (session) => {
        await session.query('begin');
        await session.query(text);
        const { rows } = await session.query<{ of: string; scans: number; read: number }>(
          `select relname as of, (idx_scan + seq_scan)::integer as scans, (coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read
           from pg_stat_xact_user_tables where relname in ('event_deliveries', 'event_due', 'event_subscriptions')`,
        );
        await session.query('rollback');
        return new Map(rows.map(({ of, ...work }) => [of, work]));
      });
    const look = await scansAndRows(
      `select from svc_take_in_turn('{webhook}', 10, 10, 0, 0, 10, 10, interval '60 seconds')`,
    );
    const described = await scansAndRows(`select svc_due_since('{webhook}')`);
    for (const { scans, read } of [...look.values(), ...described.values()])
      expect(Math.max(scans, read)).toBeLessThan(50);
  });

  it.each(['failing', 'healthy'] as const)(
    "finds another tenant's failing and healthy endpoints behind more %s endpoints of one org than one call looks at",
    async (kind) => {
      await insertDue(kind, 1_100, `org ${await insertOrg(stores.first)}`);
      const [failing] = [await want(rp), await want(rp)];
      await denies(1);
      await openAll();
      await runSql(
        stores.url,
        'update event_subscriptions set failing_since = svc_now() where subscription_id = $1',
        [failing.subscriptionId],
      );
      const taken = await take(10, 1, 5);
      expect(taken.filter(({ eventId }) => eventId !== `evt_${kind}`)).toHaveLength(2);
    },
  );

  it('reads a bounded number of rows however many healthy endpoints are due, of one org or of many', async () => {
    const DUE = sampled({ quick: 4_000, deep: 20_000 });
    // Some rows for each of 1,024 that have been due the longest, and for as many of other tenants.
    const MOST = 12_000;
    const readOfALook = () =>
      withSession(stores.url, async (session) => {
        await session.query('vacuum analyze event_due, event_deliveries, event_subscriptions');
        await session.query('begin');
        const { rows: taken } = await session.query(
          `select from svc_take_in_turn('{webhook}', 256, 256, 0, 0, 32, 32, interval '60 seconds')`,
        );
        expect(taken.length).toBeGreaterThan(0);
        const { rows } = await session.query<{ read: number }>(
          `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read from pg_stat_xact_user_tables
           where relname in ('event_deliveries', 'event_due', 'event_subscriptions')`,
        );
        await session.query('rollback');
        return rows[0]?.read ?? 0;
      });
    await insertDue('healthy', DUE, `org ${await insertOrg(stores.first)}`);
    expect(await readOfALook()).toBeLessThan(MOST);
    await runSql(stores.url, 'update event_due set whose = hashtext(subscription_id)');
    expect(await readOfALook()).toBeLessThan(MOST);
  });

  it('gives an org and all its members together as many places as a single tenant', async () => {
    const orgId = await insertOrg(stores.first);
    const members = await Promise.all(Array.from({ length: 4 }, () => createWorld(stores.first, orgId)));
    for (const member of members) await want(`rp ${member.relyingParty.did}`);
    await want(`org ${orgId}`);
    await want(rp);
    for (const member of members)
      await stores.first.verify.commitDecisions(Array.from({ length: 6 }, () => denyCommit(member)));
    await denies(6, null);
    await openAll();
    const of = (taken: readonly TakenDelivery[]) =>
      taken.filter(
        ({ data }) =>
          (JSON.parse(data) as { relying_party: string }).relying_party !== world.relyingParty.did,
      ).length;
    const taken = await take(100, 32, 5);
    expect({ org: of(taken), other: taken.length - of(taken) }).toEqual({ org: 5, other: 5 });
    expect(await take(100, 32, 5)).toEqual([]);
  });

  describe('with 256 places in a worker and endpoints that do not answer', () => {
    const PLACES = 256;
    const MAX_PER_ORG = 32;
    /** Orgs with `due` due deliveries each. */
    const insertTenants = async (count: number, due: number, isNewcomer: boolean) => {
      const orgs = await Promise.all(
        Array.from({ length: count }, async () => {
          const orgId = await insertOrg(stores.first);
          if (isNewcomer) await signUp(orgId);
          await want(`org ${orgId}`);
          return orgId;
        }),
      );
      await runSql(
        stores.url,
        `insert into event_log (event_id, audience, type, occurred_at, data)
         select 'evt_' || org || n, 'org ' || org, 'decision.deny', svc_now(), json_build_object('org', org)::text
         from unnest($1::text[]) as org, generate_series(1, $2) as n`,
        [orgs, due],
      );
      await openAll();
      return orgs;
    };
    const signUp = async (orgId: OrgId) => {
      const member = await createWorld(stores.first, orgId);
      await runSql(
        stores.url,
        `insert into self_serve_tenants (org_id, relying_party, admin_email) values ($1, $2, 'a@b.example')`,
        [orgId, member.relyingParty.did],
      );
    };
    /** Deliveries that a worker has under way after it has looked until it found no more. */
    const fill = async (underWay = { newcomers: 0, others: 0 }) => {
      const counts = new Map<string, number>();
      const taking = { ...underWay };
      for (;;) {
        const free = PLACES - taking.newcomers - taking.others;
        const taken = free === 0 ? [] : await take(free, MAX_PER_ORG, MAX_PER_ORG, taking);
        if (taken.length === 0) return { counts, underWay: taking };
        for (const { data, isNewcomer } of taken) {
          const { org } = JSON.parse(data) as { org: string };
          counts.set(org, (counts.get(org) ?? 0) + 1);
          taking[isNewcomer ? 'newcomers' : 'others'] += 1;
        }
      }
    };

    it('newcomers get at most half of the places, and the last quarter of that half goes to newcomers with none', async () => {
      await insertTenants(20, 32, true);
      const { underWay } = await fill();
      expect(underWay).toEqual({ newcomers: (PLACES / 2) * 0.75, others: 0 });
      const [late = ''] = await insertTenants(1, 32, true);
      const { underWay: more, counts } = await fill(underWay);
      expect(counts).toEqual(new Map([[late, 1]]));
      const [customer = ''] = await insertTenants(1, 32, false);
      expect((await fill(more)).counts.get(customer)).toBe(MAX_PER_ORG);
      expect((await fill({ newcomers: PLACES / 2, others: MAX_PER_ORG })).counts).toEqual(new Map());
    });

    it('eight and even sixteen paying orgs leave places free: an org that comes later gets one at once', async () => {
      await insertTenants(8, 32, false);
      const { underWay } = await fill();
      await insertTenants(8, 32, false);
      const { underWay: more } = await fill(underWay);
      expect(more.others).toBe((PLACES * 3) / 4);
      const [late = ''] = await insertTenants(1, 32, false);
      expect((await fill(more)).counts.get(late)).toBe(1);
    });

    it.runIf(isDeep)('one org may take 32 places while half of the places of its kind are free', async () => {
      const [org = ''] = await insertTenants(1, 33, false);
      expect((await fill()).counts.get(org)).toBe(MAX_PER_ORG);
      const [newcomer = ''] = await insertTenants(1, 33, true);
      expect((await fill({ newcomers: 0, others: MAX_PER_ORG })).counts.get(newcomer)).toBe(MAX_PER_ORG);
    });
  });

  it('skips a delivery whose row another transaction has locked, and does not wait for it', async () => {
    await want(rp);
    await denies(2, null);
    await openAll();
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select from event_deliveries order by position limit 1 for update');
      expect(await take()).toHaveLength(1);
      await session.query('rollback');
    });
    expect(await take()).toHaveLength(1);
  });
});

describe('a delivery that becomes due after its endpoint was put off is taken by the next call', () => {
  it('when a success is recorded late, over a failure: the delivery behind it is taken next', async () => {
    await want(rp);
    await denies(2);
    await openAll();
    const [first, ...others] = await take();
    expect(others).toEqual([]);
    await runSql(
      stores.url,
      `update event_deliveries set taken_until = null, next_attempt_at = svc_now() + interval '1 hour' where is_next`,
    );
    expect(await take()).toEqual([]);
    await note(first);
    expect((await take()).map(({ position }) => position)).toEqual([(first?.position ?? 0) + 1]);
  });

  it('when deliveries are opened while a taking call removes the due mark, whichever of the two ends first', async () => {
    const { subscriptionId } = await want(rp);
    await denies(1, null);
    await openAll();
    await note((await take())[0]);
    await denies(1, null);
    await sequenceAll(stores.url, stores.second);
    await withSession(stores.url, async (opener) => {
      await opener.query('begin');
      await opener.query('select svc_open_for($1, 100)', [subscriptionId]);
      expect(await take()).toEqual([]);
      await opener.query('commit');
    });
    const [second, ...others] = await take();
    expect(others).toEqual([]);
    await note(second);
    await denies(1, null);
    await sequenceAll(stores.url, stores.second);
    // Stops a look after it has read the due endpoints, and before it reads what was noted meanwhile.
    const source = await alterFunction(
      stores.url,
      'svc_settle_due',
      'where n.wake_at >',
      'where (select pg_advisory_xact_lock(99, 1)::text) is not null and n.wake_at >',
    );
    onTestFinished(async () => {
      await runSql(stores.url, source);
    });
    await withSession(stores.url, async (holder) => {
      await holder.query('select pg_advisory_lock(99, 1)');
      const looked = take();
      await untilWaiting(holder);
      expect(await stores.second.eventDeliveries.open(subscriptionId, 100)).toMatchObject({ opened: 1 });
      await holder.query('select pg_advisory_unlock(99, 1)');
      await looked;
    });
    expect(await take()).toHaveLength(1);
  });
});

it('a delivery released because nothing can sign it counts as due, also while its retry waits', async () => {
  await want(rp);
  await denies(1);
  await openAll();
  const [taken] = await take();
  if (taken === undefined) throw new Error('nothing was taken');
  await stores.first.eventDeliveries.release(taken, 30);
  expect(await take()).toEqual([]);
  expect((await stores.first.eventDeliveries.describeQueue(false)).dueSinceMs).toEqual(expect.any(Number));
});

it('describeQueue and findOutboxSince report events outside the log, due and waiting deliveries, and endpoint states', async () => {
  const store = stores.first;
  const none = { dueSinceMs: null, waiting: 0, active: 0, failing: 0, disabled: 0 };
  expect(await store.eventDeliveries.describeQueue(false)).toEqual(none);
  expect(await store.eventDeliveries.findOutboxSince()).toBeNull();
  const failing = await want(rp);
  await want(rp);
  const disabled = await want(rp);
  await denies(3);
  expect(await store.eventDeliveries.findOutboxSince()).toEqual(expect.any(Number));
  expect(await store.eventDeliveries.describeQueue(false)).toMatchObject({ dueSinceMs: null });
  await openAll();
  await store.eventSubscriptions.disable(disabled.subscriptionId);
  await runSql(
    stores.url,
    `update event_subscriptions set failing_since = svc_now() where subscription_id = $1`,
    [failing.subscriptionId],
  );
  const counts = { waiting: 9, active: 1, failing: 1, disabled: 1 };
  expect(await store.eventDeliveries.describeQueue(false)).toEqual({
    ...counts,
    dueSinceMs: expect.any(Number),
  });
  expect(await store.eventDeliveries.findOutboxSince()).toBeNull();
  await take();
  expect(await store.eventDeliveries.describeQueue(false)).toEqual({
    ...counts,
    dueSinceMs: null,
  });
});

describe('deliveries with one order key stay in order', () => {
  it('when the first is given up: the delivery behind it is taken next', async () => {
    await want(rp);
    await denies(3);
    await openAll();
    const [first, ...others] = await take();
    expect(others).toEqual([]);
    await note(first, false);
    await runSql(stores.url, 'update event_subscriptions set not_before = svc_now()');
    expect((await take()).map(({ position }) => position)).toEqual([(first?.position ?? 0) + 1]);
  });

  it('when a delivered event is replayed while the next is under way: the replay is taken alone, then the rest in order', async () => {
    const { subscriptionId } = await want(rp);
    await denies(4);
    await openAll();
    const [first] = await take();
    await note(first);
    const [second] = await take();
    await stores.first.eventSubscriptions.readAgain(subscriptionId, first?.position ?? 0);
    await openAll();
    const told: (number | undefined)[] = [];
    const [again, ...others] = await take();
    expect(others).toEqual([]);
    await note(again);
    expect(await take()).toEqual([]);
    await note(second);
    for (let [one] = await take(); one !== undefined; [one] = await take()) {
      told.push(one.position);
      await note(one);
    }
    const from = first?.position ?? 0;
    expect([again?.position, ...told]).toEqual([from, from + 2, from + 3]);
  });

  it('when a delivery that had failed often is replayed: its retries start anew, within 60 seconds of the first failure', async () => {
    const { subscriptionId } = await want(rp);
    await denies(2, null);
    await openAll();
    const outcome = { isDelivered: false, isGone: false, status: 500, problem: null };
    const fail = (taken: TakenDelivery | undefined, retrySeconds: number) =>
      stores.first.eventDeliveries.noteOutcome(
        taken as TakenDelivery,
        { ...outcome, retrySeconds, endpointWaitSeconds: 0 },
        5,
      );
    const waits = (position: number | undefined) =>
      runSql<{ inSeconds: number; early: number }>(
        stores.url,
        `select extract(epoch from next_attempt_at - svc_now())::float as "inSeconds", early_attempts as early
         from event_deliveries where subscription_id = $1 and position = $2`,
        [subscriptionId, position],
      );
    const askAgain = () => runSql(stores.url, 'update event_subscriptions set not_before = svc_now()');
    const [first, second] = await take();
    await fail(first, 3_600);
    // Makes the first delivery due early. That attempt fails too, and keeps its schedule; the next one succeeds.
    await note(second);
    for (const isDelivered of [false, true]) {
      await runSql(
        stores.url,
        `update event_deliveries set next_attempt_at = svc_now() where state = 'waiting'`,
      );
      await askAgain();
      const [early] = await take();
      expect(early?.position).toBe(first?.position);
      await (isDelivered ? note(early) : fail(early, 3_600));
    }
    await stores.first.eventSubscriptions.readAgain(subscriptionId, first?.position ?? 0);
    await openAll();
    await askAgain();
    const again = (await take()).find(({ position }) => position === first?.position);
    expect(again?.attempts).toBe(0);
    await fail(again, 5);
    const [after] = await waits(first?.position);
    expect(after?.inSeconds).toBeLessThan(60);
    expect(after?.early).toBe(0);
  });

  it('when the first is forgotten before its delivery: the next one is taken', async () => {
    await want(rp);
    await denies(2);
    await openAll();
    await runSql(
      stores.url,
      `update event_log set logged_at = svc_now() - interval '31 days' where position = (select min(position) from event_log)`,
    );
    await stores.first.eventLog.forget(100, 30, Date.now());
    expect(await take()).toHaveLength(1);
  });
});

describe('a revocation', () => {
  const revoke = async (ids = [grant.id]) => {
    await stores.first.grants.recordRevocation(ids);
    await stores.first.revocation.stampRevoked(world.principal.did, ids, Date.now());
  };

  it('looks up verifiers only among relying parties that decided on a Grant of the Principal, not among all subscribers', async () => {
    await Promise.all(
      Array.from({ length: sampled({ quick: 4, deep: 12 }) }, async () => {
        const other = await createWorld(stores.first);
        await want(`rp ${other.relyingParty.did}`, ['grant.revoked']);
      }),
    );
    const mine = await want(rp, ['grant.revoked']);
    const second = await insertGrant(world);
    await stores.first.verify.commitDecisions([allowCommit(world, grant), allowCommit(world, second)]);
    await revoke([grant.id, second.id]);
    const calls = await withSession(stores.url, async (session) => {
      await session.query(`set track_functions = 'all'`);
      await session.query('begin');
      let asked = 0;
      while (
        (await session.query('select from event_log where audience = $1', ['verifiers told'])).rowCount !== 2
      ) {
        await session.query('select svc_move_events(100)');
        await session.query(`select svc_tell_verifiers(svc_next_to_tell(null), interval '1 minute')`);
        const { rows } = await session.query<{ calls: number }>(
          `select coalesce(sum(calls), 0)::integer as calls from pg_stat_xact_user_functions
           where funcname = 'svc_has_verified'`,
        );
        asked = rows[0]?.calls ?? 0;
        await session.query('commit');
        await session.query('begin');
      }
      await session.query('commit');
      return asked;
    });
    // The server counts a function that has settings of its own twice.
    expect(calls).toBeLessThanOrEqual(2 * 2);
    await openAll();
    expect((await take()).map(({ subscriptionId, type }) => ({ subscriptionId, type }))).toEqual(
      Array(2).fill({ subscriptionId: mine.subscriptionId, type: 'grant.revoked' }),
    );
  });

  /** `count` relying parties that subscribe to revocations. */
  const listen = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { relyingParty, keyHash, keyId } = await createWorld(stores.first);
        await want(`rp ${relyingParty.did}`, ['grant.revoked']);
        return { ...world, relyingParty, keyHash, keyId };
      }),
    );
  const verify = (by: World, { id, principal }: GrantRecord) =>
    stores.first.verify.commitDecisions([denyCommit(by, { grantId: id, principal })]);
  const verifyOnColdDay = (by: World, { id, principal }: GrantRecord) =>
    runSql(stores.url, 'insert into cold_verifications values ($1, $2, $3, $4)', [
      ...[id, principal, by.relyingParty.did, denyCommit(by).receiptId],
    ]);
  const move = async () => {
    while ((await runSql(stores.url, 'select from event_outbox limit 1')).length > 0)
      await stores.first.eventLog.sequence(10_000);
  };
  /** The shortest possible step. */
  const tell = (principal: string) => stores.first.revocationNotices.tellVerifiers(principal, 0);
  const toldOf = async (worlds: readonly World[]) =>
    (
      await Promise.all(worlds.map(({ relyingParty }) => listTold(stores.url, `rp ${relyingParty.did}`)))
    ).flat();
  const audiencesOf = (worlds: readonly World[]) =>
    worlds.map(({ relyingParty }) => `rp ${relyingParty.did}`);

  const listening: [how: string, listeners: string][] = [
    ['few', 'svc_revocation_listeners(200)'],
    ['many', 'null'],
  ];
  it.each(sampleOf(listening, 1))(
    'reaches each verifier once, under one event id, in several steps, while other events go on, with %s subscribers',
    async (_, listeners) => {
      const source = await alterFunction(
        stores.url,
        'svc_tell_verifiers',
        'svc_revocation_listeners(200)',
        listeners,
      );
      onTestFinished(async () => void (await runSql(stores.url, source)));
      const verified = await listen(6);
      for (const by of verified.slice(0, 4)) await verify(by, grant);
      // One of these has verified in both.
      for (const by of verified.slice(3)) await verifyOnColdDay(by, grant);
      const [before, beside, other] = await listen(3);
      if (before === undefined || beside === undefined || other === undefined) throw new Error('none');
      await verify(beside, await insertGrant(world));
      await verify(other, await insertGrant(await createWorld(stores.first)));
      const { subscriptionId } = await want(rp);
      await revoke();
      await move();
      let steps = 0;
      for (; await tell(world.principal.did); steps++) {
        await denies(1, null);
        await move();
        await stores.first.eventDeliveries.open(subscriptionId, 1_000);
        expect(await take()).toMatchObject([{ subscriptionId, type: 'decision.deny' }]);
      }
      expect(steps).toBeGreaterThan(6);
      const told = await toldOf(verified);
      expect(told.map(({ audience }) => audience)).toEqual(audiencesOf(verified));
      expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(1);
      expect(await toldOf([before, beside, other])).toEqual([]);
      expect(await stores.first.revocationNotices.nextToTell(null)).toBe(null);
    },
  );

  it('of one Principal does not block the revocation of another: their notices take turns', async () => {
    const second = await createWorld(stores.first);
    const grantOfSecond = await insertGrant(second);
    const verified = await listen(4);
    for (const by of verified) await verify(by, grant);
    const [quick] = await listen(1);
    if (quick === undefined) throw new Error('none');
    await verify(quick, grantOfSecond);
    await revoke();
    await stores.first.grants.recordRevocation([grantOfSecond.id]);
    await stores.first.revocation.stampRevoked(second.principal.did, [grantOfSecond.id], Date.now());
    await move();
    for (let last: string | null = null, turns = 0; turns < 4; turns++) {
      last = await stores.first.revocationNotices.nextToTell(last);
      if (last !== null) await tell(last);
    }
    expect(await toldOf([quick])).toHaveLength(1);
    expect((await toldOf(verified)).length).toBeLessThan(4);
    await sequenceAll(stores.url, stores.first);
    expect(await toldOf(verified)).toHaveLength(4);
  });

  it('resumes after a notice step that was rolled back', async () => {
    const verified = await listen(3);
    for (const by of verified) await verify(by, grant);
    await revoke();
    await move();
    await tell(world.principal.did);
    const told = (await toldOf(verified)).length;
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query(`select svc_tell_verifiers($1, interval '1 minute')`, [world.principal.did]);
      // Nor does another worker tell them meanwhile.
      expect(await tell(world.principal.did)).toBe(false);
      await session.query('rollback');
    });
    expect(await toldOf(verified)).toHaveLength(told);
    await sequenceAll(stores.url, stores.first);
    expect(await toldOf(verified)).toHaveLength(3);
  });

  it('is also announced by a worker of the previous version', async () => {
    const verified = await listen(1);
    for (const by of verified) await verify(by, grant);
    await revoke();
    while ((await toldOf(verified)).length === 0)
      await runSql(stores.url, 'select svc_sequence_events(1000)');
  });

  it('whose verifiers cannot be looked up blocks no other event from the log', async () => {
    await want(rp, ['decision.deny', 'grant.revoked']);
    await denies(1);
    const [verified] = await listen(1);
    if (verified === undefined) throw new Error('none');
    await verify(verified, grant);
    await revoke();
    const [row] = await runSql<{ source: string }>(
      stores.url,
      `select pg_get_functiondef('svc_has_verified'::regproc) as source`,
    );
    onTestFinished(async () => void (await runSql(stores.url, row?.source ?? '')));
    await runSql(
      stores.url,
      `create or replace function svc_has_verified(p_relying_parties text[], p_principal text, p_grant_id text)
       returns boolean language plpgsql set search_path = public, pg_temp
       as 'begin raise query_canceled; end'`,
    );
    await move();
    await expect(tell(world.principal.did)).rejects.toThrow();
    await denies(1);
    await move();
    expect(await listTold(stores.url, rp)).toHaveLength(2);
  });

  it('is announced once to an org that owns both the Principal and a relying party that verified the Grant', async () => {
    const orgId = await insertOrg(stores.first);
    world = await createWorld(stores.first, orgId);
    await stores.first.principals.setOrg(world.principal.did, orgId);
    world = {
      ...world,
      principal: (await stores.first.principals.find(world.principal.did)) ?? world.principal,
    };
    grant = await insertGrant(world);
    await want(`org ${orgId}`, ['grant.revoked']);
    await stores.first.verify.commitDecisions([allowCommit(world, grant)]);
    await revoke();
    await openAll();
    await openAll();
    expect(await take()).toHaveLength(1);
  });
});

describe('event storage', () => {
  it('moves later events past an event that is stored twice for one audience', async () => {
    await want(rp);
    await denies(1);
    await runSql(
      stores.url,
      `insert into event_outbox (event_id, audience, type, occurred_at, data)
       select event_id, audience, type, occurred_at, data from event_outbox`,
    );
    await denies(1);
    await openAll();
    expect(await runSql(stores.url, 'select from event_log')).toHaveLength(2);
  });

  it('keeps the wants of a subscription that is re-enabled while old wants are forgotten', async () => {
    const { subscriptionId } = await want(rp);
    await stores.first.eventSubscriptions.disable(subscriptionId);
    await runSql(stores.url, `update event_subscriptions set disabled_at = svc_now() - interval '31 days'`);
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query(`update event_subscriptions set disabled_at = null, disabled_because = null`);
      await session.query('select svc_want_events($1)', [subscriptionId]);
      await stores.first.eventLog.forget(100, 30, Date.now());
      await session.query('commit');
    });
    expect(await runSql(stores.url, 'select type from event_wants')).toHaveLength(2);
  });

  it('forgets deliveries together with their events, also next to an event dated by a clock that was ahead', async () => {
    const { subscriptionId } = await want(rp);
    await denies(3);
    await openAll();
    await runSql(
      stores.url,
      `update event_log set logged_at = svc_now() + case when position = (select min(position) from event_log)
       then interval '1 year' else -interval '31 days' end`,
    );
    await stores.first.eventLog.forget(100, 30, Date.now());
    expect(
      await stores.first.eventDeliveries.list(subscriptionId, { beforePosition: undefined, limit: 10 }),
    ).toHaveLength(1);
    expect(await take()).toHaveLength(1);
  });

  it('forgets nothing of a subscription while a transaction holds its row to record a delivery', async () => {
    await want(rp);
    await denies(2);
    await openAll();
    await runSql(stores.url, `update event_log set logged_at = svc_now() - interval '31 days'`);
    const forget = `set lock_timeout = 200; select svc_forget_events(100, interval '30 days', ${Date.now()})`;
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select from event_subscriptions for no key update');
      await expect(withSession(stores.url, (other) => other.query(forget))).rejects.toThrow('lock timeout');
      await session.query('rollback');
    });
  });

  it('keeps two usable secrets of a subscription, however often its secret is rotated', async () => {
    const { subscriptionId } = await want(rp);
    for (let i = 0; i < 6; i++)
      await stores.first.transaction((tx) => tx.eventSubscriptions.rotate(subscriptionId, 'root', 24));
    const rows = await runSql<{ number: number }>(
      stores.url,
      'select number from event_secrets order by number',
    );
    expect(rows.length).toBeLessThanOrEqual(3);
    expect(rows.at(-1)?.number).toBe(7);
    const [found] = await stores.first.eventSubscriptions.list(rp);
    expect(found?.secrets.map(({ number }) => number)).toEqual([7, 6]);
  });
});

/** Rows of two tables that a statement reads and deletes; all of it is rolled back. */
const workOf = (tables: readonly string[], text: string, values: readonly unknown[] = []) =>
  withSession(stores.url, async (session) => {
    await session.query('begin');
    await session.query(text, [...values]);
    const { rows } = await session.query<{ read: number; deleted: number }>(
      `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read, sum(n_tup_del)::integer as deleted
       from pg_stat_xact_user_tables where relname = any ($1)`,
      [tables],
    );
    await session.query('rollback');
    return rows[0] ?? { read: 0, deleted: 0 };
  });

describe('the work of one call does not grow with the amount of stored data', () => {
  it('sequencing reads only as much of the outbox as it moves, also when nothing may move', async () => {
    const OUTBOX = sampled({ quick: 1_000, deep: 5_000 });
    await want(rp);
    await denies(1);
    await sequenceAll(stores.url, stores.second);
    await runSql(
      stores.url,
      `insert into event_outbox (event_id, audience, type, occurred_at, data)
       select 'evt_' || i, $1, 'decision.deny', svc_now(), '{}' from generate_series(1, ${OUTBOX}) as i`,
      [rp],
    );
    await runSql(stores.url, 'analyze event_outbox');
    const sequence = 'select svc_sequence_events(10)';
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select pg_current_xact_id()');
      await runSql(
        stores.url,
        `insert into event_outbox (event_id, audience, type, occurred_at, data)
         select 'evt_held_' || i, $1, 'decision.deny', svc_now(), '{}' from generate_series(1, ${OUTBOX}) as i`,
        [rp],
      );
      expect((await workOf(['event_outbox'], sequence)).read).toBeLessThan(100);
      await session.query('rollback');
    });
    expect((await workOf(['event_outbox'], sequence)).read).toBeLessThan(100);
  });

  it('deleting a subscription or releasing a name leaves its deliveries and events to be removed in steps', async () => {
    const store = stores.first;
    const { subscriptionId } = await want(rp);
    await denies(100);
    await openAll();
    const tables = ['event_deliveries', 'event_log'];
    expect(await workOf(tables, 'select svc_end_subscription($1)', [subscriptionId])).toMatchObject({
      deleted: 0,
    });
    expect(await workOf(tables, 'select svc_forget_audience($1)', [rp])).toMatchObject({ deleted: 0 });
    expect(await stores.first.transaction((tx) => tx.eventSubscriptions.delete(subscriptionId))).toBe(true);
    expect(await stores.first.transaction((tx) => tx.eventSubscriptions.delete(subscriptionId))).toBe(false);
    expect(await store.eventSubscriptions.find(rp, subscriptionId)).toBeNull();
    expect(await take()).toEqual([]);
    expect(await runSql(stores.url, 'select from event_secrets union all select from event_wants')).toEqual(
      [],
    );
    await runSql(stores.url, 'select svc_forget_audience($1)', [rp]);
    const steps: number[] = [];
    do steps.push(await store.eventLog.forget(40, 30, Date.now()));
    while ((steps.at(-1) ?? 0) > 0);
    expect(steps).toEqual([40, 40, 20, 0]);
    expect(
      await runSql(
        stores.url,
        `select 1 from event_log union all select 2 from event_deliveries union all select 3 from event_subscriptions
         union all select 4 from event_floors`,
      ),
    ).toEqual([]);
  });

  it('an event for everyone is forgotten in steps of a fixed number of deliveries, each reading a bounded number of rows', async () => {
    const SUBSCRIBERS = sampled({ quick: 600, deep: 2_000 });
    const STEP = 100;
    await runSql(
      stores.url,
      `with told as (
         insert into event_log (event_id, audience, type, occurred_at, logged_at, data)
         values ('evt_all', 'everyone', 'checkpoint.published', svc_now(), svc_now() - interval '31 days', '{}')
         returning position
       ), subscribed as (
         insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to)
         select 'whs_all' || i, 'rp did:web:all-' || i || '.example', 'https://hooks.example/svc', '{checkpoint.published}', 20, position
         from told, generate_series(1, $1) as i
         returning subscription_id
       ), idle as (
         insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to)
         select 'whs_idle' || i, 'rp did:web:idle-' || i || '.example', 'https://hooks.example/svc', '{decision.deny}', 20, position
         from told, generate_series(1, $1) as i
       )
       insert into event_deliveries (subscription_id, position, event_id, type)
       select subscription_id, position, 'evt_all', 'checkpoint.published' from subscribed, told`,
      [SUBSCRIBERS],
    );
    await runSql(stores.url, 'analyze event_deliveries, event_log, event_subscriptions');
    const tables = ['event_deliveries', 'event_log', 'event_subscriptions'];
    const step = await workOf(tables, `select svc_forget_events($1, interval '30 days', $2)`, [
      STEP,
      Date.now(),
    ]);
    expect(step.deleted).toBe(STEP);
    expect(step.read).toBeLessThan(STEP * 6);
    const steps: number[] = [];
    do steps.push(await stores.first.eventLog.forget(STEP, 30, Date.now()));
    while ((steps.at(-1) ?? 0) > 0);
    expect(steps).toEqual([...Array(SUBSCRIBERS / STEP).fill(STEP), 0]);
    expect(await runSql(stores.url, 'select from event_deliveries')).toEqual([]);
    expect(await runSql(stores.url, 'select from event_log')).toEqual([]);
  });

  it('a delivery that was opened while its event was forgotten is removed by the next step', async () => {
    await want(rp);
    await denies(1);
    await openAll();
    await denies(1);
    await openAll();
    await runSql(stores.url, 'delete from event_log where position = (select min(position) from event_log)');
    expect(await stores.first.eventLog.forget(100, 30, Date.now())).toBe(1);
    expect(await runSql(stores.url, 'select from event_deliveries')).toHaveLength(1);
  });

  it('forgetting old events does not read the deliveries of newer events', async () => {
    await Promise.all(Array.from({ length: 5 }, () => want(rp)));
    await denies(300, null);
    await openAll();
    await runSql(
      stores.url,
      `update event_log set logged_at = svc_now() - interval '31 days'
       where position <= (select min(position) + 3 from event_log)`,
    );
    await runSql(stores.url, 'analyze event_deliveries, event_log, event_subscriptions');
    const forget = `select svc_forget_events(10, interval '30 days', $1)`;
    // PostgreSQL chooses a generic plan after five custom ones.
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      for (let i = 0; i < 8; i++) {
        await session.query('savepoint s');
        await session.query(forget, [Date.now()]);
        if (i < 7) await session.query('rollback to s');
      }
      const { rows } = await session.query<{ read: number; deleted: number }>(
        `select (idx_tup_fetch + seq_tup_read)::integer as read, n_tup_del::integer as deleted
         from pg_stat_xact_user_tables where relname = 'event_deliveries'`,
      );
      await session.query('rollback');
      expect(rows[0]?.deleted).toBe(8 * 10);
      expect(rows[0]?.read).toBeLessThan(8 * 10 * 6);
    });
  });
});

it('countReplay allows 3 replays per hour, and then returns how long to wait', async () => {
  const { subscriptionId } = await want(rp);
  for (let i = 0; i < 3; i++)
    expect(await stores.first.eventSubscriptions.countReplay(subscriptionId, 3)).toBeNull();
  expect(await stores.first.eventSubscriptions.countReplay(subscriptionId, 3)).toBeGreaterThan(3_500);
  await runSql(
    stores.url,
    `update event_subscriptions set replays_from = replays_from - interval '61 minutes'`,
  );
  expect(await stores.first.eventSubscriptions.countReplay(subscriptionId, 3)).toBeNull();
});
