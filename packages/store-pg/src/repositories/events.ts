/**
 * Subscriptions, the log of events and their deliveries (0010-events, 0023-pushed-streams, 0034-fair-shares,
 * 0036-disabled-in-steps, 0039-told-in-turn, 0050-who-is-behind).
 */
import type {
  DisabledBecause,
  EventDeliveryRecord,
  EventQueue,
  EventRepository,
  EventSubscriptionRecord,
  FailedEndpoint,
  TakenDelivery,
} from '@svc/service';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';
import { isOfClaimSql } from './claims.ts';

const secretsOf = (id: string) => `(
    select coalesce(json_agg(json_build_object('number', e.number, 'root', e.root, 'endsAtMs', svc_ms(e.ends_at))
      order by e.number desc), '[]')
    from event_secrets e where e.subscription_id = ${id} and (e.ends_at is null or e.ends_at > svc_now()))`;

const select = `
  select s.subscription_id as "subscriptionId", s.audience, s.url, s.description, s.types,
    s.budget_low_percent as "budgetLowPercent", s.created_by as "createdBy", svc_ms(s.created_at) as "createdAtMs",
    svc_ms(s.failing_since) as "failingSinceMs", svc_ms(s.disabled_at) as "disabledAtMs",
    s.disabled_because as "disabledBecause",
    s.last_problem as "lastProblem",
    (select count(*)::integer from event_deliveries d
      where d.subscription_id = s.subscription_id and d.state = 'waiting') as waiting,
    ${secretsOf('s.subscription_id')} as secrets
  from event_subscriptions s`;

const insertSql = `
  with inserted as (
    insert into event_subscriptions (subscription_id, audience, url, description, types, budget_low_percent, created_by, read_to)
    values ($1, $2, $3, $4, $5, $6, $7, coalesce((select max(position) from event_log), 0))
    returning subscription_id
  )
  insert into event_secrets (subscription_id, number, root) select subscription_id, 1, $8 from inserted`;

/** What has ended is not kept: a third is gone once there is a fourth. */
const rotateSql = `
  with gone as (
    delete from event_secrets where subscription_id = $1 and ends_at <= svc_now()
  ), ended as (
    update event_secrets set ends_at = case
        when number = (select max(number) from event_secrets where subscription_id = $1)
          then svc_now() + make_interval(hours => $3)
        else svc_now()
      end
    where subscription_id = $1 and (ends_at is null or ends_at > svc_now())
  )
  insert into event_secrets (subscription_id, number, root)
  select $1, max(number) + 1, $2 from event_secrets where subscription_id = $1`;

const enableSql = `
  with enabled as (
    update event_subscriptions
    set disabled_at = null, disabled_because = null, failing_since = null, failures = 0, last_problem = null,
      not_before = svc_now()
    where subscription_id = $1 and disabled_at is not null
    returning subscription_id
  ), due as (
    update event_deliveries d set attempts = 0, next_attempt_at = svc_now()
    from enabled e where d.subscription_id = e.subscription_id and d.state = 'waiting'
  )
  select svc_want_events(subscription_id) from enabled`;

const deliveryColumns = `position, event_id as "eventId", type, state, attempts,
  svc_ms(last_attempt_at) as "lastAttemptAtMs", last_status as "lastStatus", last_problem as "lastProblem",
  case when state = 'waiting' then svc_ms(next_attempt_at) end as "nextAttemptAtMs"`;

/** The push settings of `t`, a subscription, and `e`, the stream that it may be. */
const push = `case when t.method = 'push' then json_build_object('audience', t.audience, 'isOfClaim', ${isOfClaimSql('t.audience')},
      'authorization', case when e.authorization_root is not null
        then json_build_object('root', e.authorization_root, 'sealed', e.authorization_sealed) end) end as push`;

const takeSql = `
  select t.subscription_id as "subscriptionId", t.position, t.url, t.event_id as "eventId", t.type,
    svc_ms(t.occurred_at) as "occurredAtMs", t.data, t.attempts, ${secretsOf('t.subscription_id')} as secrets,
    t.is_newcomer as "isNewcomer", ${push}
  from svc_take_in_turn($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8)) t left join event_streams e using (subscription_id)
  order by t.position`;

const disableFailingSql = `
  select t.subscription_id as "subscriptionId", t.url, t.last_problem as "lastProblem", ${push}
  from svc_disable_failing($1, $2, make_interval(days => $3), $4) t left join event_streams e using (subscription_id)`;

/** How what is sent is sent; streams that are pushed or not. */
const methodsOf = (pushes: boolean) => (pushes ? ['webhook', 'push'] : ['webhook']);

const putOffSql = `
  update event_subscriptions set not_before = greatest(not_before, svc_now() + make_interval(secs => $2))
  where subscription_id = $1 and failing_since is not null`;

const releaseSql = `
  with released as (
    update event_deliveries set taken_until = null
    where subscription_id = $1 and position = $2 and state = 'waiting'
  )
  update event_subscriptions set not_before = svc_now() + make_interval(secs => $3)
  where subscription_id = $1 and not_before <= svc_now()
  returning 1`;

/** Answers a row if this hour has room for one more. Locks the subscription until the end of the transaction. */
const countSql = (what: 'pings' | 'replays') => `
  update event_subscriptions
  set ${what} = case when ${what}_from > svc_now() - interval '1 hour' then ${what} + 1 else 1 end,
    ${what}_from = case when ${what}_from > svc_now() - interval '1 hour' then ${what}_from else svc_now() end
  where subscription_id = $1
    and (${what} < $2 or ${what}_from is null or ${what}_from <= svc_now() - interval '1 hour')
  returning 1`;
const waitSql = (what: 'pings' | 'replays') => `
  select ceil(extract(epoch from ${what}_from + interval '1 hour' - svc_now()))::integer as value
  from event_subscriptions where subscription_id = $1`;

/** For each endpoint, the delivery that has been due the longest: a probe each. */
const queueSql = `
  select (select svc_ms(occurred_at) from event_outbox order by seq limit 1) as "outboxSinceMs",
    (select svc_ms(min(f.due_at)) from event_subscriptions s, lateral (
        select d.next_attempt_at as due_at from event_deliveries d
        where d.subscription_id = s.subscription_id and d.state = 'waiting' and d.is_next
          and d.next_attempt_at <= svc_now() and d.taken_until is null
        order by d.next_attempt_at limit 1) f
      where s.disabled_at is null and s.failing_since is null and s.method = any ($1)) as "dueSinceMs",
    (select count(*)::integer from (select from event_deliveries where state = 'waiting' limit 100000) w) as waiting,
    count(*) filter (where disabled_at is null and failing_since is null)::integer as active,
    count(*) filter (where disabled_at is null and failing_since is not null)::integer as failing,
    count(*) filter (where disabled_at is not null and audience != 'rp deleted')::integer as disabled
  from event_subscriptions where method = any ($1)`;

export function eventRepository(database: Database): EventRepository {
  const findWhere = async (condition: string, values: readonly unknown[]) =>
    database.read<EventSubscriptionRecord>({ text: `${select} where ${condition}`, values });
  const first = async <Value>(text: string, values: readonly unknown[]): Promise<Value | undefined> =>
    (await database.write<{ value: Value }>({ text, values }))[0]?.value;
  /** Counts one more; else answers for how long there is no room. */
  const countOne = async (what: 'pings' | 'replays', subscriptionId: string, atMostEachHour: number) => {
    const values = [subscriptionId, atMostEachHour];
    if ((await database.write({ text: countSql(what), values })).length > 0) return null;
    return Math.max((await first<number>(waitSql(what), [subscriptionId])) ?? 0, 1);
  };
  return {
    async countForUpdate(audience) {
      const text =
        "select count(*)::integer as value from event_subscriptions where audience = $1 and method = 'webhook'";
      return (await afterLock(database, 'audience', audience, () => first<number>(text, [audience]))) ?? 0;
    },
    async insert(subscription, root) {
      const { subscriptionId, audience, url, description, types, budgetLowPercent, createdBy } = subscription;
      await database.write({
        text: insertSql,
        values: [subscriptionId, audience, url, description, types, budgetLowPercent, createdBy, root],
      });
      await database.write({ text: 'select svc_want_events($1)', values: [subscriptionId] });
      const [inserted] = await findWhere('s.subscription_id = $1', [subscriptionId]);
      if (inserted === undefined) throw new Error(`inserted subscription not found: ${subscriptionId}`);
      return inserted;
    },
    list: (audience) =>
      findWhere(`s.audience = $1 and s.method = 'webhook' order by s.subscription_id desc`, [audience]),
    async find(audience, subscriptionId) {
      const [found] = await findWhere(`s.audience = $1 and s.subscription_id = $2 and s.method = 'webhook'`, [
        audience,
        subscriptionId,
      ]);
      return found ?? null;
    },
    async rotate(subscriptionId, root, overlapHours) {
      await database.write({
        text: 'select from event_subscriptions where subscription_id = $1 for update',
        values: [subscriptionId],
      });
      await database.write({ text: rotateSql, values: [subscriptionId, root, overlapHours] });
    },
    async disable(subscriptionId) {
      const rows = await database.write({
        text: `update event_subscriptions set disabled_at = svc_now(), disabled_because = 'owner'
          where subscription_id = $1 and disabled_at is null returning 1`,
        values: [subscriptionId],
      });
      return rows.length > 0;
    },
    async enable(subscriptionId) {
      return (await database.write({ text: enableSql, values: [subscriptionId] })).length > 0;
    },
    async delete(subscriptionId) {
      // Nobody could hear its pings any more.
      await database.write({
        text: `select svc_forget_audience('subscription ' || $1)`,
        values: [subscriptionId],
      });
      return (await first<boolean>('select svc_end_subscription($1) as value', [subscriptionId])) ?? false;
    },
    async deleteAll(audience) {
      await database.write({ text: 'select svc_forget_audience($1)', values: [audience] });
    },
    async ping(subscriptionId, atMostEachHour) {
      const waitSeconds = await countOne('pings', subscriptionId, atMostEachHour);
      if (waitSeconds !== null) return { waitSeconds };
      const text = `select svc_emit_to(array['subscription ' || $1::text], 'ping', null, svc_now(),
        json_build_object('subscription_id', $1::text)) as value`;
      const eventId = await first<string>(text, [subscriptionId]);
      if (eventId === undefined) throw new Error('a ping has no id');
      return { eventId };
    },
    listDeliveries: (subscriptionId, { beforePosition, limit }) =>
      database.read<EventDeliveryRecord>({
        text: `select ${deliveryColumns} from event_deliveries
          where subscription_id = $1 and ($2::bigint is null or position < $2) order by position desc limit $3`,
        values: [subscriptionId, beforePosition ?? null, limit],
      }),
    async findPositionSince(sinceMs) {
      const text = `select position as value from event_log where logged_at >= svc_instant($1)
        order by logged_at, position limit 1`;
      return (await first<number>(text, [sinceMs])) ?? null;
    },
    async findPositionOf(subscriptionId, eventId) {
      const text = `select l.position as value from event_log l
        join event_deliveries d on d.position = l.position and d.subscription_id = $1
        where l.event_id = $2`;
      return (await first<number>(text, [subscriptionId, eventId])) ?? null;
    },
    countReplay: (subscriptionId, atMostEachHour) => countOne('replays', subscriptionId, atMostEachHour),
    async readAgain(subscriptionId, fromPosition) {
      await database.write({
        text: `update event_subscriptions s set read_to = greatest(least(read_to, $2 - 1),
            (select f.position from event_floors f where f.audience = s.audience))
          where subscription_id = $1`,
        values: [subscriptionId, fromPosition],
      });
    },
    async hasSubscribers() {
      const text = 'select from event_subscriptions where disabled_at is null limit 1';
      return (await database.read({ text, values: [] })).length > 0;
    },
    async describeQueue(pushes) {
      const [queue] = await database.read<EventQueue>({ text: queueSql, values: [methodsOf(pushes)] });
      if (queue === undefined) throw new Error('nothing is known of the queue');
      return queue;
    },
    async sequence(limit) {
      return (await first<number>('select svc_move_events($1) as value', [limit])) ?? 0;
    },
    async nextToTell(after) {
      const rows = await database.read<{ principal: string | null }>({
        text: 'select svc_next_to_tell($1) as principal',
        values: [after],
      });
      return rows[0]?.principal ?? null;
    },
    async tellVerifiers(principal, forMs) {
      const text = 'select svc_tell_verifiers($1, make_interval(secs => $2)) as value';
      return (await first<boolean>(text, [principal, forMs / 1_000])) ?? false;
    },
    async takeBehind(ofEachLine) {
      const rows = await database.write<{ id: string }>({
        text: 'select id from svc_take_behind($1) as id',
        values: [ofEachLine],
      });
      return rows.map(({ id }) => id);
    },
    async open(subscriptionId, window) {
      return (
        (await first<number>('select svc_open_deliveries($1, $2) as value', [subscriptionId, window])) ?? 0
      );
    },
    take: (limit, { atOnce, ofTenant, underWay: { newcomers, others }, forSeconds, pushes }) => {
      const places = limit + newcomers + others;
      return database.write<TakenDelivery>({
        text: takeSql,
        values: [methodsOf(pushes), limit, places, newcomers, others, atOnce, ofTenant, forSeconds],
      });
    },
    disableFailing: (limit, { afterDays, pushes, nowMs }) =>
      database.write<FailedEndpoint>({
        text: disableFailingSql,
        values: [methodsOf(pushes), limit, afterDays, nowMs],
      }),
    async noteOutcome({ subscriptionId, position, url, push }, outcome, disableAfterDays) {
      const { isDelivered, isGone, status, problem, retrySeconds, endpointWaitSeconds } = outcome;
      const of = push === null ? 'svc_note_delivery(' : 'svc_note_push($9, ';
      const text = `select ${of}$1, $2, $3, $4, $5, $6, $7, make_interval(days => $8)) as value`;
      const because = await first<DisabledBecause | null>(text, [
        ...[subscriptionId, position, isDelivered, isGone, status, problem, retrySeconds, disableAfterDays],
        ...(push === null ? [] : [url]),
      ]);
      if (endpointWaitSeconds > 0)
        await database.write({ text: putOffSql, values: [subscriptionId, endpointWaitSeconds] });
      return because ?? null;
    },
    async release({ subscriptionId, position }, inSeconds) {
      return (
        (await database.write({ text: releaseSql, values: [subscriptionId, position, inSeconds] })).length > 0
      );
    },
    async forget(limit, keptDays, nowMs) {
      const text = 'select svc_forget_events($1, make_interval(days => $2), $3) as value';
      return (await first<number>(text, [limit, keptDays, nowMs])) ?? 0;
    },
  };
}
