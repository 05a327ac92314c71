-- runs-from: 0005-roles
-- All endpoints that had failed for days were disabled in one statement, in no order: beside what locks them in that of their ids
-- (svc_forget_deliveries) this could end in a deadlock, and whoever had asked then told the receivers of all of them.

-- Disables endpoints of these methods that have failed for so long, by the clock or p_node_ms, whichever is earlier: so many at the most, those that
-- fail the longest first, and for none that somebody has it waits. Of streams that are pushed it answers what it takes to tell their receivers.
create function svc_disable_failing(p_methods text[], p_limit integer, p_after interval, p_node_ms bigint)
returns table (subscription_id text, url text, method text, audience text, last_problem text)
language sql
volatile
set search_path = public, pg_temp
as $$
  with
    failed as (
      select f.subscription_id
      from event_subscriptions as f
      where
        f.disabled_at is null
        and f.failing_since is not null
        and f.method = any (p_methods)
        and svc_has_failed(f.failing_since, f.failing_days, least(svc_now(), svc_instant(p_node_ms)), p_after)
      order by f.failing_since
      limit p_limit
      for no key update skip locked
    )
  update event_subscriptions as s
  set
    disabled_at = svc_now(),
    disabled_because = 'failing'
  from failed
  where s.subscription_id = failed.subscription_id
  returning s.subscription_id, s.url, s.method, s.audience, s.last_problem;
$$;

-- As a worker of the version before asks, which tells one receiver after another before it opens anything.
create or replace function svc_disable_failing(p_after interval, p_node_ms bigint)
returns table (subscription_id text, url text, method text, audience text, last_problem text)
language sql
volatile
set search_path = public, pg_temp
as $$
  select f.subscription_id, f.url, f.method, f.audience, f.last_problem
  from svc_disable_failing(array['webhook', 'push'], 1, p_after, p_node_ms) as f;
$$;
