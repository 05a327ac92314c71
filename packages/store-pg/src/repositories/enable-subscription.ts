import type { Database } from '../database.ts';

const enableSql = `
  with enabled as (
    update event_subscriptions
    set disabled_at = null, disabled_because = null, failing_since = null, failures = 0, last_problem = null,
      not_before = svc_now(), asked_until = null
    where subscription_id = $1 and disabled_at is not null
    returning subscription_id
  )
  select svc_begin_anew(subscription_id), svc_want_events(subscription_id) from enabled`;

/** Enables a disabled subscription or stream: all that waits is due at once. False: it was enabled already. */
export const enableSubscription = async (database: Database, subscriptionId: string): Promise<boolean> =>
  (await database.write({ text: enableSql, values: [subscriptionId] })).length > 0;
