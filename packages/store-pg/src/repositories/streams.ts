/**
 * Streams of Shared Signals, built on subscriptions, the event log and its deliveries (0022-streams,
 * 0023-pushed-streams).
 */
import {
  type StreamDelivery,
  type StreamRecord,
  type StreamRepository,
  VERIFICATION,
  type WaitingEvent,
} from '@svc/service';
import { type Database, writeValue } from '../database.ts';
import { afterLock } from '../locks.ts';
import { isOfClaimSql } from './claims.ts';
import { enableSubscription } from './enable-subscription.ts';

const select = `
  select s.subscription_id as "streamId", s.audience, ${isOfClaimSql('s.audience')} as "isOfClaim", s.description, array_remove(s.types, '${VERIFICATION}') as types, t.requested,
    case when s.disabled_at is null then 'enabled' when t.keeps_nothing then 'disabled' else 'paused' end as status, t.reason,
    s.disabled_because as "disabledBecause", s.last_problem as "lastProblem",
    case s.method when 'poll' then json_build_object('method', 'poll') else json_build_object('method', 'push', 'url', s.url,
      'authorization', case when t.authorization_root is not null
        then json_build_object('root', t.authorization_root, 'sealed', t.authorization_sealed) end) end as delivery
  from event_subscriptions s join event_streams t using (subscription_id)`;

/** A subscription has at least one type; a stream may have none. */
const insertSql = `
  with inserted as (
    insert into event_subscriptions
      (subscription_id, audience, method, url, description, types, budget_low_percent, created_by, read_to)
    values ($1, $2, $7, $8, $3, array['${VERIFICATION}'] || $4::text[], 20, $5,
      coalesce((select max(position) from event_log), 0))
    returning subscription_id
  )
  insert into event_streams (subscription_id, requested, authorization_root, authorization_sealed)
  select subscription_id, $6, $9, $10 from inserted`;

const updateSql = `
  with updated as (
    update event_subscriptions set types = array['${VERIFICATION}'] || $2::text[], description = $3
    where subscription_id = $1 returning subscription_id, types
  ), dropped as (
    delete from event_deliveries d using updated u
    where d.subscription_id = u.subscription_id and d.state = 'waiting' and d.type != all (u.types)
    returning d.order_key
  ), unwanted as (
    delete from event_wants w using updated u where w.subscription_id = u.subscription_id and w.type != all (u.types)
  ), changed as (
    update event_streams set requested = $4, authorization_root = $5, authorization_sealed = $6 where subscription_id = $1
  )
  select distinct order_key as "orderKey" from dropped where order_key is not null`;

/** After deliveries of an order key were dropped, marks the first remaining one as the next to send. */
const nextSql = 'select svc_find_next($1, $2)';

/**
 * The caller has locked the row, and enables the stream. A stream that stored nothing until now begins with the events
 * from now on.
 */
const statusSql = `
  with was as (
    select keeps_nothing from event_streams where subscription_id = $1
  ), changed as (
    update event_streams set keeps_nothing = $2 = 'disabled', reason = $3 where subscription_id = $1
  )
  update event_subscriptions s
  set disabled_at = case when $2 = 'enabled' then disabled_at else coalesce(disabled_at, svc_now()) end,
    disabled_because = case when $2 = 'enabled' then disabled_because else 'owner' end,
    read_to = case when w.keeps_nothing then coalesce((select max(position) from event_log), 0) else read_to end
  from was w where s.subscription_id = $1`;

const dropSql = `
  with unwanted as (delete from event_wants where subscription_id = $1)
  delete from event_deliveries where subscription_id = $1 and state = 'waiting'`;

const settleSql = `
  update event_deliveries d
  set state = case when e.problem is null then 'delivered' else 'failed' end, attempts = attempts + 1, last_attempt_at = svc_now(),
    last_problem = e.problem
  from unnest($2::text[], $3::text[]) as e (event_id, problem)
  where d.subscription_id = $1 and d.event_id = e.event_id and d.state = 'waiting'
    and exists (select from event_subscriptions s where s.subscription_id = $1 and s.method = 'poll')`;

const rowOf = (delivery: StreamDelivery) => {
  if (delivery.method === 'poll') return { method: 'poll', url: '', root: null, sealed: null };
  const { method, url, authorization } = delivery;
  return { method, url, root: authorization?.root ?? null, sealed: authorization?.sealed ?? null };
};

export function streamRepository(database: Database): StreamRepository {
  const run = (text: string, values: readonly unknown[]) => database.write({ text, values });
  const listWhere = (condition: string, values: readonly unknown[]) =>
    database.read<StreamRecord>({ text: `${select} where ${condition}`, values });
  const lock = async (streamId: string): Promise<void> => {
    await run('select from event_subscriptions where subscription_id = $1 for no key update', [streamId]);
  };
  const want = (streamId: string) => run('select svc_want_events($1)', [streamId]);
  return {
    async countForUpdate(audience) {
      const text = `select count(*)::integer as value from event_subscriptions where audience = $1 and method != 'webhook'`;
      const count = await afterLock(database, 'audience', audience, () =>
        writeValue<number>(database, text, [audience]),
      );
      return count ?? 0;
    },
    async insert({ streamId, audience, description, types, createdBy, requested, delivery }) {
      const { method, url, root, sealed } = rowOf(delivery);
      const stream = [streamId, audience, description, types, createdBy, requested];
      await run(insertSql, [...stream, method, url, root, sealed]);
      await want(streamId);
      const [inserted] = await listWhere('s.subscription_id = $1', [streamId]);
      if (inserted === undefined) throw new Error(`inserted stream not found: ${streamId}`);
      return inserted;
    },
    list: (audience) => listWhere('s.audience = $1 order by s.subscription_id', [audience]),
    async find(audience, streamId) {
      const [found] = await listWhere('s.audience = $1 and s.subscription_id = $2', [audience, streamId]);
      return found ?? null;
    },
    lock,
    async update(streamId, { types, description, requested, delivery }) {
      await lock(streamId);
      const { method, url, root, sealed } = rowOf(delivery);
      const dropped = await database.write<{ orderKey: string }>({
        text: updateSql,
        values: [streamId, types, description, requested, root, sealed],
      });
      await run(nextSql, [streamId, dropped.map(({ orderKey }) => orderKey)]);
      await run('select svc_direct_stream($1, $2, $3)', [streamId, method, url]);
      await run(
        `select svc_want_events(subscription_id) from event_streams where subscription_id = $1 and not keeps_nothing`,
        [streamId],
      );
    },
    async setStatus(streamId, status, reason) {
      await lock(streamId);
      await run(statusSql, [streamId, status, reason]);
      if (status === 'enabled') await enableSubscription(database, streamId);
      await (status === 'disabled' ? run(dropSql, [streamId]) : want(streamId));
    },
    async delete(streamId) {
      await run(`select svc_forget_audience('subscription ' || $1)`, [streamId]);
      await run('select svc_end_subscription($1)', [streamId]);
    },
    async verify(streamId, state, everySeconds) {
      const text = `
        update event_streams set verified_at = svc_now()
        where subscription_id = $1
          and (verified_at is null or verified_at <= svc_now() - make_interval(secs => $2))
        returning svc_emit_to(array['subscription ' || $1::text], '${VERIFICATION}', null, svc_now(),
          case when $3::text is null then '{}' else json_build_object('state', $3::text) end)`;
      if ((await run(text, [streamId, everySeconds, state])).length > 0) return null;
      const waitSql = `select ceil(extract(epoch from verified_at - svc_now()) + $2)::integer as value
          from event_streams where subscription_id = $1`;
      return Math.max((await writeValue<number>(database, waitSql, [streamId, everySeconds])) ?? 0, 1);
    },
    async settle(streamId, taken, refused) {
      const ids = [...taken, ...refused.map(({ eventId }) => eventId)];
      const problems = [...taken.map(() => null), ...refused.map(({ problem }) => problem)];
      await lock(streamId);
      await run(settleSql, [streamId, ids, problems]);
    },
    listWaiting: (streamId, limit) =>
      database.read<WaitingEvent>({
        text: `
          select l.event_id as "eventId", l.type, svc_ms(l.occurred_at) as "occurredAtMs", l.data
          from event_deliveries d
            join event_subscriptions s using (subscription_id)
            join event_log l using (position)
          where d.subscription_id = $1 and d.state = 'waiting' and s.disabled_at is null
          order by d.position limit $2`,
        values: [streamId, limit],
      }),
    async listReady(streamIds) {
      const rows = await database.read<{ id: string }>({
        text: `
          select subscription_id as id from event_subscriptions s
          where subscription_id = any ($1) and disabled_at is null and exists (
            select from event_deliveries d where d.subscription_id = s.subscription_id and d.state = 'waiting')`,
        values: [streamIds],
      });
      return rows.map(({ id }) => id);
    },
  };
}
