-- runs-from: 0005-roles
-- An event that its endpoint does not take, while it takes others, was given up after minutes: each success brought forward all that waited, and each
-- of these attempts was one of the ten. And a success that was under way when the endpoint said for how long to ask nothing ended that wait.

-- When a delivery would be tried if no success had brought it forward, and how many of its attempts were made before that time: they are none of the ten.
alter table event_deliveries
add column scheduled_at timestamptz,
add column early_attempts integer not null default 0;

-- Until when the endpoint said that it wants to be asked nothing (Retry-After); not_before is this or later.
alter table event_subscriptions
add column asked_until timestamptz;

create or replace function svc_rewind_events(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_subscriptions
  set
    not_before = svc_not_after(not_before, p_now),
    asked_until = svc_not_after(asked_until, p_now),
    failing_since = svc_not_after(failing_since, p_now),
    failing_day_at = svc_not_after(failing_day_at, p_now),
    disabled_at = svc_not_after(disabled_at, p_now),
    pings_from = svc_not_after(pings_from, p_now),
    replays_from = svc_not_after(replays_from, p_now)
  where
    greatest(
      not_before,
      asked_until,
      failing_since,
      failing_day_at,
      disabled_at,
      pings_from,
      replays_from
    ) > p_now;
  update event_deliveries
  set
    next_attempt_at = case
      when attempts = 0
      or last_attempt_at is null then p_now
      when last_attempt_at > p_now then p_now + greatest(next_attempt_at - last_attempt_at, interval '0')
      else next_attempt_at
    end,
    scheduled_at = case
      when last_attempt_at > p_now then p_now + (scheduled_at - last_attempt_at)
      else scheduled_at
    end,
    taken_until = p_now + (taken_until - taken_at),
    taken_at = svc_not_after(taken_at, p_now),
    last_attempt_at = svc_not_after(last_attempt_at, p_now)
  where state = 'waiting' and greatest(next_attempt_at, taken_at, last_attempt_at) > p_now;
  update event_log set logged_at = p_now where logged_at > p_now;
  update event_streams set verified_at = p_now where verified_at > p_now;
  -- A secret that ends has done so for 24 hours after the rotation at the most.
  update event_secrets
  set
    created_at = svc_not_after(created_at, p_now),
    ends_at = svc_not_after(ends_at, p_now + interval '24 hours')
  where greatest(created_at, ends_at - interval '24 hours') > p_now;
$$;

-- As in 0023-pushed-streams, and nothing is left of a schedule or of a wait that was asked for elsewhere.
create or replace function svc_direct_stream(p_subscription_id text, p_method text, p_url text)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  update event_subscriptions
  set
    method = p_method,
    url = p_url,
    failing_since = null,
    failures = 0,
    last_problem = null,
    not_before = svc_now(),
    asked_until = null
  where subscription_id = p_subscription_id and (method != p_method or url != p_url);
  if not found then
    return;
  end if;
  perform svc_begin_anew(p_subscription_id);
end;
$$;

create or replace function svc_begin_anew(p_subscription_id text)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_deliveries
  set
    attempts = 0,
    early_attempts = 0,
    scheduled_at = null,
    next_attempt_at = svc_now()
  where subscription_id = p_subscription_id and state = 'waiting';
  select
    svc_find_next(
      p_subscription_id,
      array(
        select distinct order_key
        from event_deliveries
        where subscription_id = p_subscription_id and state = 'waiting' and order_key is not null
      )
    );
$$;
