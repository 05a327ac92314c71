/** Deliveries of events (0010-events, 0023-pushed-streams, 0034-fair-shares, 0036-disabled-in-steps, 0050-who-is-behind, 0053-one-event-that-fails, 0059-due-endpoints, 0063-who-is-due, 0066-looks-are-bounded, 0068-read-on). */
import type {
  DisabledBecause,
  EventDeliveryRecord,
  EventDeliveryRepository,
  EventQueue,
  FailedEndpoint,
  OpenedDeliveries,
  TakenDelivery,
} from '@svc/service';
import { type Database, writeValue } from '../database.ts';
import { isOfClaimSql } from './claims.ts';
import { secretsOf } from './event-secrets.ts';

const deliveryColumns = `position, event_id as "eventId", type, state, attempts,
  svc_ms(last_attempt_at) as "lastAttemptAtMs", last_status as "lastStatus", last_problem as "lastProblem",
  case when state = 'waiting' then svc_ms(next_attempt_at) end as "nextAttemptAtMs"`;

/** The push settings of `t`, a subscription, and of `e`, its row if it is a stream. */
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

/** Methods of delivery: with or without streams that are pushed. */
const methodsOf = (pushes: boolean) => (pushes ? ['webhook', 'push'] : ['webhook']);

/**
 * Only where the subscription still has the URL that asked for the wait. Takes the later time, since a delivery that
 * succeeded at the same time may have been recorded meanwhile.
 */
const putOffSql = `
  update event_subscriptions
  set not_before = greatest(not_before, svc_now() + make_interval(secs => $3)),
    asked_until = greatest(asked_until, svc_now() + make_interval(secs => $3))
  where subscription_id = $1 and url = $2`;

const releaseSql = `
  with released as (
    update event_deliveries set taken_until = null
    where subscription_id = $1 and position = $2 and state = 'waiting'
  )
  update event_subscriptions set not_before = svc_now() + make_interval(secs => $3)
  where subscription_id = $1 and not_before <= svc_now()
  returning 1`;

const queueSql = `
  select svc_ms(svc_due_since($1)) as "dueSinceMs",
    (select count(*)::integer from (select from event_deliveries where state = 'waiting' limit 100000) w) as waiting,
    count(*) filter (where disabled_at is null and failing_since is null)::integer as active,
    count(*) filter (where disabled_at is null and failing_since is not null)::integer as failing,
    count(*) filter (where disabled_at is not null and audience != 'rp deleted')::integer as disabled
  from event_subscriptions where method = any ($1)`;

const outboxSql = `select (select svc_ms(occurred_at) from event_outbox order by seq limit 1) as "sinceMs"`;

export function eventDeliveryRepository(database: Database): EventDeliveryRepository {
  return {
    list: (subscriptionId, { beforePosition, limit }) =>
      database.read<EventDeliveryRecord>({
        text: `select ${deliveryColumns} from event_deliveries
          where subscription_id = $1 and ($2::bigint is null or position < $2) order by position desc limit $3`,
        values: [subscriptionId, beforePosition ?? null, limit],
      }),
    async takeBehind(ofEachLine) {
      const rows = await database.write<{ id: string }>({
        text: 'select id from svc_take_behind($1) as id',
        values: [ofEachLine],
      });
      return rows.map(({ id }) => id);
    },
    async open(subscriptionId, window) {
      const [opened] = await database.write<OpenedDeliveries>({
        text: 'select opened, has_more as "hasMore" from svc_open_for($1, $2)',
        values: [subscriptionId, window],
      });
      return opened ?? { opened: 0, hasMore: false };
    },
    take: (limit, { atOnce, ofTenant, underWay: { newcomers, others }, forSeconds, pushes }) => {
      const places = limit + newcomers + others;
      return database.write<TakenDelivery>({
        text: takeSql,
        values: [methodsOf(pushes), limit, places, newcomers, others, atOnce, ofTenant, forSeconds],
      });
    },
    async noteOutcome({ subscriptionId, position, url, push }, outcome, disableAfterDays) {
      const { isDelivered, isGone, status, problem, retrySeconds, endpointWaitSeconds } = outcome;
      const of = push === null ? 'svc_note_delivery(' : 'svc_note_push($9, ';
      const text = `select ${of}$1, $2, $3, $4, $5, $6, $7, make_interval(days => $8)) as value`;
      const because = await writeValue<DisabledBecause | null>(database, text, [
        ...[subscriptionId, position, isDelivered, isGone, status, problem, retrySeconds, disableAfterDays],
        ...(push === null ? [] : [url]),
      ]);
      if (endpointWaitSeconds > 0)
        await database.write({ text: putOffSql, values: [subscriptionId, url, endpointWaitSeconds] });
      return because ?? null;
    },
    async release({ subscriptionId, position }, inSeconds) {
      return (
        (await database.write({ text: releaseSql, values: [subscriptionId, position, inSeconds] })).length > 0
      );
    },
    disableFailing: (limit, { afterDays, pushes, nowMs }) =>
      database.write<FailedEndpoint>({
        text: disableFailingSql,
        values: [methodsOf(pushes), limit, afterDays, nowMs],
      }),
    async describeQueue(pushes) {
      const [queue] = await database.read<EventQueue>({ text: queueSql, values: [methodsOf(pushes)] });
      if (queue === undefined) throw new Error('nothing is known of the queue');
      return queue;
    },
    async findOutboxSince() {
      const [outbox] = await database.read<{ sinceMs: number | null }>({ text: outboxSql, values: [] });
      return outbox?.sinceMs ?? null;
    },
  };
}
