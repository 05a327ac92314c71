/** Subscriptions to events with their secrets (0010-events, 0036-disabled-in-steps). */
import type { EventSubscriptionRecord, EventSubscriptionRepository } from '@svc/service';
import { type Database, writeValue } from '../database.ts';
import { afterLock } from '../locks.ts';
import { enableSubscription } from './enable-subscription.ts';
import { secretsOf } from './event-secrets.ts';

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

/** Deletes secrets that ended before. Lets the previous secret end after some hours, and all older ones now. */
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

/**
 * Answers a row if the limit of this hour has room for one more. Locks the subscription until the end of the
 * transaction.
 */
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

/** Counts one more. Where this hour has no room, answers the seconds until there is; otherwise null. */
const countInHour = async (
  database: Database,
  what: 'pings' | 'replays',
  subscriptionId: string,
  atMostEachHour: number,
): Promise<number | null> => {
  const values = [subscriptionId, atMostEachHour];
  if ((await database.write({ text: countSql(what), values })).length > 0) return null;
  return Math.max((await writeValue<number>(database, waitSql(what), [subscriptionId])) ?? 0, 1);
};

export function eventSubscriptionRepository(database: Database): EventSubscriptionRepository {
  const findWhere = async (condition: string, values: readonly unknown[]) =>
    database.read<EventSubscriptionRecord>({ text: `${select} where ${condition}`, values });
  return {
    async countForUpdate(audience) {
      const text =
        "select count(*)::integer as value from event_subscriptions where audience = $1 and method = 'webhook'";
      return (
        (await afterLock(database, 'audience', audience, () =>
          writeValue<number>(database, text, [audience]),
        )) ?? 0
      );
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
    enable: (subscriptionId) => enableSubscription(database, subscriptionId),
    async delete(subscriptionId) {
      // No subscriber is left for its pings.
      await database.write({
        text: `select svc_forget_audience('subscription ' || $1)`,
        values: [subscriptionId],
      });
      return (
        (await writeValue<boolean>(database, 'select svc_end_subscription($1) as value', [subscriptionId])) ??
        false
      );
    },
    async ping(subscriptionId, atMostEachHour) {
      const waitSeconds = await countInHour(database, 'pings', subscriptionId, atMostEachHour);
      if (waitSeconds !== null) return { waitSeconds };
      const text = `select svc_emit_to(array['subscription ' || $1::text], 'ping', null, svc_now(),
        json_build_object('subscription_id', $1::text)) as value`;
      const eventId = await writeValue<string>(database, text, [subscriptionId]);
      if (eventId === undefined) throw new Error('a ping has no id');
      return { eventId };
    },
    countReplay: (subscriptionId, atMostEachHour) =>
      countInHour(database, 'replays', subscriptionId, atMostEachHour),
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
  };
}
