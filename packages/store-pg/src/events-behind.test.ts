/**
 * Subscriptions that are behind the log. Each of them is noted, whatever happens concurrently, and a look costs as much
 * as is behind, not as much as exists.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EventAudience, EventSubscriptionRecord, EventType } from '@svc/service';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { insertSubscription, openBehind, sequenceAll } from '@svc/testkit/store/events';
import { openStore, withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from './migrate.ts';
import { listMigrations } from './migrations.ts';

const stores = withStores();
const rp: EventAudience = 'rp did:web:one.example';
const other: EventAudience = 'rp did:web:other.example';

beforeEach(async () => {
  await runSql(
    stores.url,
    'truncate event_subscriptions, event_outbox, event_log, event_behind, event_due, event_floors cascade',
  );
  await runSql(stores.url, 'update event_everyone set noted_to = null');
});

const TYPES: readonly EventType[] = ['decision.deny', 'checkpoint.published'];
const want = (audience = rp) => insertSubscription(stores.first, audience, TYPES);
/** Repeats until no open transaction anywhere on the server holds the events back. */
const tell = async (audience: string, count = 1) => {
  await emit(audience, count);
  await untilMovable(stores.url);
};
const emit = (audience: string, count: number) =>
  runSql(stores.url, `select svc_emit_to(array[$1], $2, null, svc_now(), '{}') from generate_series(1, $3)`, [
    audience,
    audience === 'everyone' ? 'checkpoint.published' : 'decision.deny',
    count,
  ]);
const untilMovable = (url: string) =>
  expect
    .poll(
      () =>
        runSql(url, 'select from event_outbox where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1'),
      { timeout: 50_000 },
    )
    .toEqual([]);
const move = () => sequenceAll(stores.url, stores.second);
const open = ({ subscriptionId }: EventSubscriptionRecord, window = 1_000) =>
  stores.first.eventDeliveries.open(subscriptionId, window);
const opened = async ({ subscriptionId }: EventSubscriptionRecord): Promise<number> => {
  const [row] = await runSql<{ count: number }>(
    stores.url,
    'select count(*)::integer as count from event_deliveries where subscription_id = $1',
    [subscriptionId],
  );
  return row?.count ?? 0;
};
const behind = async () =>
  (
    await runSql<{ id: string; line: string }>(
      stores.url,
      'select subscription_id as id, line from event_behind order by line',
    )
  ).map(({ id, line }) => ({ id, line }));

/** Enabled subscriptions that have not read their part of the log, and that no look would find. */
const unnoted = () =>
  runSql(
    stores.url,
    `select s.subscription_id, l.position from event_subscriptions s, event_log l
     where s.disabled_at is null and l.audience = any (svc_audiences_of(s)) and l.position > s.read_to
       and not exists (select from event_behind b where b.subscription_id = s.subscription_id and b.up_to >= l.position)
       and not exists (select from event_everyone e where e.noted_to < s.subscription_id and e.up_to >= l.position)`,
  );

describe('taking subscriptions that are behind the log', () => {
  /** Numbers of rows that the statements read of these tables, in order; all of it is rolled back. */
  const rowsRead = (...statements: readonly string[]) =>
    withSession(stores.url, async (session) => {
      await session.query('begin');
      for (const text of statements) await session.query(text);
      const { rows } = await session.query<{ read: number; noted: number; opened: number }>(
        `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read,
           sum(n_tup_ins) filter (where relname = 'event_behind')::integer as noted,
           sum(n_tup_ins) filter (where relname = 'event_deliveries')::integer as opened
         from pg_stat_xact_user_tables
         where relname in ('event_subscriptions', 'event_log', 'event_behind', 'event_deliveries')`,
      );
      await session.query('rollback');
      return rows[0];
    });

  const OTHERS = sampled({ quick: 3_000, deep: 100_000 });
  it(`reads only the subscriptions that are behind, and not ${OTHERS} others`, async () => {
    await tell(other, 100);
    await move();
    await runSql(
      stores.url,
      `insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to)
       select 'whs_idle' || i, 'rp did:web:idle-' || i || '.example', 'https://hooks.example/svc', array['decision.deny'], 20,
         (select max(position) from event_log)
       from generate_series(1, $1) as i`,
      [OTHERS],
    );
    await runSql(stores.url, 'analyze event_subscriptions, event_log, event_behind');
    const mine = await want();
    await tell(rp);
    const read = await rowsRead(
      'select svc_move_events(1000)',
      `select svc_open_for(id, 1000) from svc_take_behind(50) as id`,
    );
    expect(read).toMatchObject({ noted: 1, opened: 1 });
    expect(read?.read).toBeLessThan(50);

    // Events for everybody are noted in steps. A subscription that was told something else meanwhile gets its turn at
    // once.
    await tell('everyone');
    const step = await rowsRead('select svc_move_events(1000)');
    expect(step?.noted).toBeLessThanOrEqual(1_001);
    // It reads 2,003; a scan of all subscriptions would read more, also in a sample.
    expect(step?.read).toBeLessThan(3_000);
    await stores.first.eventLog.sequence(1_000);
    expect(await unnoted()).toEqual([]);
    expect((await stores.first.eventDeliveries.takeBehind(1)).slice(0, 1)).toEqual([mine.subscriptionId]);
    await runSql(stores.url, 'truncate event_subscriptions cascade');
  }, 120_000);

  it('gives each subscription its turn, also if it is never opened or has reached its limit of open deliveries', async () => {
    const all = [await want(), await want(), await want(), await want()];
    await tell(rp, 3);
    await move();
    for (const one of all.slice(0, 2)) for (let i = 0; i < 2; i++) await open(one, 2);
    expect((await behind()).map(({ line }) => line)).toEqual(['full', 'full', 'news', 'news']);
    const places = new Map(all.map(({ subscriptionId }, place) => [subscriptionId, place]));
    const look = async () => {
      const taken = await stores.first.eventDeliveries.takeBehind(1);
      return taken.map((id) => places.get(id) ?? -1).toSorted((a, b) => a - b);
    };
    const looks = [await look(), await look(), await look()];
    const [first, second] = looks as [number[], number[]];
    expect([...first, ...second].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(first.map((place) => place < 2)).toEqual([true, false]);
    expect(looks[2]).toEqual(first);
  });

  it('gives no subscription to two concurrent workers', async () => {
    for (let i = 0; i < 20; i++) await want();
    await tell(rp);
    await move();
    const taken = await withSession(stores.url, async (session) => {
      await session.query('begin');
      const { rows } = await session.query<{ id: string }>('select id from svc_take_behind(10) as id');
      const beside = await stores.first.eventDeliveries.takeBehind(20);
      await session.query('commit');
      return [...rows.map(({ id }) => id), ...beside];
    });
    expect(new Set(taken).size).toBe(20);
    expect(taken).toHaveLength(20);
  });
});

describe('a subscription', () => {
  it('is behind after an event for it, until it has read all of its events', async () => {
    const mine = await want();
    await tell(rp, 5);
    await move();
    expect(await behind()).toEqual([{ id: mine.subscriptionId, line: 'news' }]);
    await open(mine, 3);
    expect(await behind()).toHaveLength(1);
    await open(mine, 1_000);
    expect(await behind()).toEqual([]);
    expect(await opened(mine)).toBe(5);
  });

  it('is behind after an event that a worker of the previous version moved, also for that version', async () => {
    const mine = await want();
    await tell(rp);
    await runSql(stores.url, 'select svc_sequence_events(1000)');
    await move();
    const former = 'select id from svc_subscriptions_behind() as id';
    expect(await runSql(stores.url, former)).toEqual([{ id: mine.subscriptionId }]);
    await open(mine);
    expect(await runSql(stores.url, former)).toEqual([]);
  });

  it('is behind while it has reached its limit of open deliveries', async () => {
    const mine = await want();
    await tell(rp, 5);
    await move();
    for (let i = 0; i < 3; i++) await openBehind(stores.first, 2);
    expect(await opened(mine)).toBe(2);
    for (const left of [4, 5]) {
      await runSql(stores.url, `update event_deliveries set state = 'delivered'`);
      await openBehind(stores.first, 2);
      expect(await opened(mine)).toBe(left);
    }
    expect(await behind()).toEqual([]);
  });

  it('is behind after an event during its disabling only once it is enabled', async () => {
    const mine = await want();
    await stores.first.eventSubscriptions.disable(mine.subscriptionId);
    await tell(rp);
    await move();
    await openBehind(stores.first);
    expect(await behind()).toEqual([]);
    await stores.first.eventSubscriptions.enable(mine.subscriptionId);
    await openBehind(stores.first);
    expect(await opened(mine)).toBe(1);
  });

  it('is behind when it reads again or gets a ping', async () => {
    const mine = await want();
    await tell(rp, 2);
    await move();
    await openBehind(stores.first);
    await runSql(stores.url, `update event_deliveries set state = 'delivered'`);
    await stores.first.eventSubscriptions.readAgain(mine.subscriptionId, 1);
    await openBehind(stores.first);
    const waiting = `select count(*)::integer as waiting from event_deliveries where state = 'waiting'`;
    expect(await runSql(stores.url, waiting)).toEqual([{ waiting: 2 }]);
    await stores.first.eventSubscriptions.ping(mine.subscriptionId, 30);
    await move();
    await openBehind(stores.first);
    expect(await runSql(stores.url, waiting)).toEqual([{ waiting: 3 }]);
  });

  it('is behind after an event for everyone, like all others', async () => {
    const all = [await want(), await want(other)];
    await tell('everyone');
    await move();
    await openBehind(stores.first);
    expect(await Promise.all(all.map(opened))).toEqual([1, 1]);
    expect(await unnoted()).toEqual([]);
  });

  it.runIf(isDeep)(
    'that was behind in a database of a former version is behind after the migration',
    async () => {
      const name = `former_${process.pid}`;
      await runSql(stores.url, `create database ${name} template template0`);
      const former = Object.assign(new URL(stores.url), { pathname: `/${name}` }).href;
      try {
        await migrate(former, { migrations: listMigrations().filter((one) => one.name < '0050') });
        const store = openStore(former);
        try {
          const mine = await insertSubscription(store, rp, TYPES);
          await runSql(former, `select svc_emit_to(array[$1], 'decision.deny', null, svc_now(), '{}')`, [rp]);
          await untilMovable(former);
          await store.eventLog.sequence(1_000);
          await migrate(former);
          await store.eventLog.sequence(1_000);
          expect(await store.eventDeliveries.takeBehind(10)).toEqual([mine.subscriptionId]);
          expect(await store.eventDeliveries.open(mine.subscriptionId, 10)).toMatchObject({ opened: 1 });
        } finally {
          await store.close();
        }
      } finally {
        await runSql(stores.url, `drop database ${name} with (force)`);
      }
    },
  );

  it('is no longer behind when its events are forgotten or it is deleted', async () => {
    await want();
    const deleted = await want(other);
    await tell(rp);
    await tell(other);
    await move();
    await stores.first.transaction((tx) => tx.eventSubscriptions.delete(deleted.subscriptionId));
    await runSql(stores.url, `update event_log set logged_at = svc_now() - interval '31 days'`);
    while ((await stores.first.eventLog.forget(100, 30, Date.now())) > 0);
    await openBehind(stores.first);
    expect(await behind()).toEqual([]);
  });
});

it("the runbook's query for sessions that hold back events names one that has written, and none that only reads", async () => {
  const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
  const [, section = ''] = runbook.split('### SvcEventsNotSent\n');
  const [found = ''] = section.match(/^ {3}select .*pg_stat_activity.*$/m) ?? [];
  // Other test files share the server, and may have older transactions.
  const query = found.replace(' limit 5', '');
  await withSession(stores.url, (reader) =>
    withSession(stores.url, async (writer) => {
      await reader.query(
        `set application_name = 'a report'; begin isolation level repeatable read; select from orgs`,
      );
      await writer.query(`set application_name = 'a writer'; begin; select pg_current_xact_id()`);
      const [{ datname } = {}] = await runSql<{ datname: string }>(
        stores.url,
        'select current_database() as datname',
      );
      const named = async () =>
        (await runSql<{ datname: string; application_name: string }>(stores.url, query))
          .filter((row) => row.datname === datname)
          .map((row) => row.application_name);
      await expect.poll(named, { timeout: 20_000 }).toEqual(['a writer']);
    }),
  );
});

describe('an event that is logged while deliveries are opened is not lost', () => {
  /** Runs both concurrently; `isOpenedFirst` says which begins first. */
  const race = async (isOpenedFirst: boolean) => {
    const mine = await want();
    await tell(rp);
    await move();
    await tell(rp);
    const steps = ['select svc_move_events(1000)', `select svc_open_for('${mine.subscriptionId}', 1000)`];
    const [first, second] = (isOpenedFirst ? steps.toReversed() : steps) as [string, string];
    await withSession(stores.url, (one) =>
      withSession(stores.url, async (two) => {
        await one.query('begin');
        await one.query(first);
        const waits = two.query(second);
        await untilWaiting(one);
        await one.query('commit');
        await waits;
      }),
    );
    const lost = await unnoted();
    await openBehind(stores.first);
    return { lost: lost.length, opened: await opened(mine) };
  };

  it('whichever transaction begins first', async () => {
    expect(await race(true)).toEqual({ lost: 0, opened: 2 });
    await runSql(stores.url, 'truncate event_subscriptions, event_log, event_behind cascade');
    expect(await race(false)).toEqual({ lost: 0, opened: 2 });
  });

  it('and is lost if opening removes a note made meanwhile: the test can fail', async () => {
    const source = await alterFunction(stores.url, 'svc_open_for', 'and up_to <= v_subscription.read_to', '');
    onTestFinished(async () => {
      await runSql(stores.url, source);
    });
    expect(await race(false)).toEqual({ lost: 1, opened: 1 });
  });

  const wasKilled = (error: unknown) =>
    (error as { code?: string }).code === '57P01' || /connection/i.test((error as Error).message);
  /** Endpoints with a waiting delivery that no look would find in time. */
  const late = () =>
    runSql(
      stores.url,
      `select s.subscription_id
       from event_subscriptions s join event_deliveries d using (subscription_id) left join event_due e using (subscription_id)
       where s.disabled_at is null and s.method != 'poll' and d.state = 'waiting' and d.is_next
       group by s.subscription_id, e.look_at
       having e.look_at is null or e.look_at > greatest(s.not_before, min(d.next_attempt_at))
         and (e.look_at > svc_now() or count(d.taken_until) = 0)`,
    );
  const ROUNDS = sampled({ quick: 25, deep: 5_000 });
  it(`in ${ROUNDS} changes of subscriptions next to workers that are killed or roll back, and no due endpoint is late`, async () => {
    const subscriptions = await Promise.all([want(), want(), want(other)]);
    const ids = subscriptions.map(({ subscriptionId }) => subscriptionId);
    let isOver = false;
    const work = async (text: string) => {
      while (!isOver)
        await withSession(stores.url, async (session) => {
          await session.query('begin');
          await session.query(text);
          await session.query(randomInt(4) === 0 ? 'rollback' : 'commit');
        }).catch((error: unknown) => {
          if (!wasKilled(error)) throw error;
        });
    };
    const OPEN = 'select svc_open_for(id, 3) from svc_take_behind(2) as id';
    const LOOK = `select from svc_take_in_turn('{webhook}', 4, 100, 0, 0, 2, 100, random() * interval '0.1 s')`;
    const NOTE = `select svc_note_delivery(subscription_id, position, random() < 0.5, false, 500, null,
        case when random() < 0.5 then 1800 * random() end, interval '5 days')
      from (select subscription_id, position from event_deliveries where taken_at is not null order by random() limit 1) t`;
    const workers = Promise.all(
      ['select svc_move_events(5)', 'select svc_move_events(5)', OPEN, OPEN, OPEN, LOOK, NOTE].map(work),
    );
    const KILL = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like '%svc_open_for(id%' and pid <> pg_backend_pid() limit 1`;
    const acts = [
      (id: string) => stores.first.eventSubscriptions.disable(id),
      (id: string) => stores.first.eventSubscriptions.enable(id),
      (id: string) => stores.first.eventSubscriptions.enable(id),
      (id: string) => stores.first.eventSubscriptions.readAgain(id, 1),
      () => emit('everyone', 1),
      () => emit(rp, 2),
      () => emit(rp, 5),
      () => emit(other, 1),
      (id: string) => emit(`subscription ${id}`, 1),
      () =>
        runSql(
          stores.url,
          `with held as materialized (select subscription_id from event_subscriptions order by 1 for no key update)
           update event_deliveries set state = 'delivered' where state = 'waiting' and subscription_id in (select * from held)`,
        ),
      async (subscriptionId: string) => {
        const [latest] = await stores.first.eventDeliveries.list(subscriptionId, {
          beforePosition: undefined,
          limit: 1,
        });
        if (latest)
          await stores.first.eventDeliveries.release({ subscriptionId, position: latest.position }, 600);
      },
      () => runSql(stores.url, KILL),
    ];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        // Each once, then at random.
        await acts[round < acts.length ? round : randomInt(acts.length)]?.(
          ids[randomInt(ids.length)] as string,
        );
        if (round % 10 === 0) expect(await late()).toEqual([]);
      }
    } finally {
      isOver = true;
      await workers;
    }
    for (const id of ids) await stores.first.eventSubscriptions.enable(id);
    await move();
    while ((await stores.first.eventLog.sequence(1_000)) > 0);
    expect(await unnoted()).toEqual([]);
    // A call that opened deliveries keeps the note; the next call finds nothing left and removes it.
    const left = async () => {
      await openBehind(stores.first, 1_000_000);
      return behind();
    };
    await expect.poll(left, { timeout: 20_000 }).toEqual([]);
    const missed = await runSql(
      stores.url,
      `select s.subscription_id, l.position from event_subscriptions s, event_log l
       where l.audience = any (svc_audiences_of(s)) and not exists (
         select from event_deliveries d where d.subscription_id = s.subscription_id and d.position = l.position)`,
    );
    expect(missed).toEqual([]);
    expect(await late()).toEqual([]);
  }, 900_000);
});
