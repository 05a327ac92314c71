-- An endpoint for which something comes seldom was disabled by the first attempt that failed days after another had, or never. It is now disabled
-- five days after it began to fail where attempts have failed on three days of these at least, whether something is tried then or not.

-- On how many days attempts have failed since failing_since, and when the last of these days began: each begins 20 hours after the one before, or
-- later. What is tried until it is given up is tried on three.
alter table event_subscriptions
add column failing_days integer not null default 0,
add column failing_day_at timestamptz not null default svc_now();
update event_subscriptions as s
set failing_days = 1 + floor(
  extract(
    epoch from coalesce(
      (select max(d.last_attempt_at) from event_deliveries as d where d.subscription_id = s.subscription_id),
      s.failing_since
    ) - s.failing_since
  ) / 86400
)
where failing_since is not null;
create index event_subscriptions_failing on event_subscriptions (failing_since)
where failing_since is not null and disabled_at is null;

-- Counts the day of an attempt that fails now.
create function svc_failing_days(p_subscription event_subscriptions)
returns integer
language sql
stable
set search_path = public, pg_temp
as $$
  select
    case
      when p_subscription.failing_since is null then 1
      when p_subscription.failing_day_at <= svc_now(

      ) - interval '20 hours' then p_subscription.failing_days + 1
      else p_subscription.failing_days
    end;
$$;

-- Whether it has failed for so long that it is asked nothing more.
create function svc_has_failed(
  p_failing_since timestamptz,
  p_failing_days integer,
  p_now timestamptz,
  p_after interval
)
returns boolean
language sql
immutable
set search_path = public, pg_temp
as $$
  select p_failing_since <= p_now - p_after and p_failing_days >= 3;
$$;

-- The caller has the subscription's row. What stood behind what is delivered or given up is the next one.
create function svc_note_attempt(
  p_subscription_id text,
  p_position bigint,
  p_is_delivered boolean,
  p_status integer,
  p_problem text,
  p_retry_s double precision
)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_order_key text;
begin
  update event_deliveries
  set
    state = case
      when p_is_delivered then 'delivered'
      when p_retry_s is null then 'failed'
      else 'waiting'
    end,
    attempts = attempts + 1,
    next_attempt_at = svc_now() + make_interval(secs => coalesce(p_retry_s, 0)),
    taken_until = null,
    last_attempt_at = svc_now(),
    last_status = p_status,
    last_problem = p_problem
  where subscription_id = p_subscription_id and position = p_position and state = 'waiting'
  returning order_key
  into v_order_key;
  if v_order_key is null or not (p_is_delivered or p_retry_s is null) then
    return;
  end if;
  update event_deliveries
  set is_next = true
  where
    subscription_id = p_subscription_id
    and position = (
      select min(position)
      from event_deliveries
      where subscription_id = p_subscription_id and order_key = v_order_key and state = 'waiting'
    );
end;
$$;

create function svc_note_failure(
  p_subscription_id text,
  p_is_news boolean,
  p_problem text,
  p_failing_days integer,
  p_because text
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_subscriptions
  set
    failing_since = coalesce(failing_since, svc_now()),
    failing_day_at = case
      when failing_since is null
      or p_failing_days > failing_days then svc_now()
      else failing_day_at
    end,
    failing_days = p_failing_days,
    last_problem = p_problem,
    failures = case
      when p_is_news then least(failures + 1, 1000)
      else failures
    end,
    -- Two seconds, four, eight, ten minutes at most; less by up to a half.
    not_before = case
      when p_is_news then svc_now() + least(power(2, least(failures + 1, 20)), 600) * (
        0.5 + random() / 2
      ) * interval '1 second'
      else not_before
    end,
    disabled_at = case
      when p_because is null then disabled_at
      else svc_now()
    end,
    disabled_because = coalesce(p_because, disabled_because)
  where subscription_id = p_subscription_id;
$$;

-- It answers again: what waits for it is due within a minute.
create function svc_note_recovery(p_subscription_id text)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_subscriptions
  set
    failing_since = null,
    failures = 0,
    last_problem = null,
    not_before = svc_now()
  where subscription_id = p_subscription_id;
  update event_deliveries
  set next_attempt_at = least(next_attempt_at, svc_now() + random() * interval '1 minute')
  where subscription_id = p_subscription_id and state = 'waiting';
$$;

create or replace function svc_note_delivery(
  p_subscription_id text,
  p_position bigint,
  p_is_delivered boolean,
  p_is_gone boolean,
  p_status integer,
  p_problem text,
  p_retry_s double precision,
  p_disable_after interval
)
returns text
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_was event_subscriptions;
  v_failing_days integer;
  v_because text;
  v_is_news boolean;
begin
  select * into v_was
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update;
  if not found then
    return null;
  end if;
  v_is_news := not exists (
    select from event_deliveries
    where subscription_id = p_subscription_id and position = p_position and taken_at < v_was.not_before
  );
  perform svc_note_attempt(p_subscription_id, p_position, p_is_delivered, p_status, p_problem, p_retry_s);
  if not p_is_delivered then
    v_failing_days := svc_failing_days(v_was);
    v_because := case
      when v_was.disabled_at is not null then null
      when p_is_gone then 'gone'
      when svc_has_failed(v_was.failing_since, v_failing_days, svc_now(), p_disable_after) then 'failing'
    end;
    perform svc_note_failure(p_subscription_id, v_is_news, p_problem, v_failing_days, v_because);
  elsif v_was.failing_since is not null then
    perform svc_note_recovery(p_subscription_id);
  end if;
  return v_because;
end;
$$;

-- Disables what has failed for so long, by the clock or p_node_ms, whichever is earlier; of streams that are pushed what it takes to tell their receivers.
create function svc_disable_failing(p_after interval, p_node_ms bigint)
returns table (subscription_id text, url text, method text, audience text, last_problem text)
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_subscriptions as s
  set
    disabled_at = svc_now(),
    disabled_because = 'failing'
  where
    s.disabled_at is null
    and s.failing_since is not null
    and svc_has_failed(s.failing_since, s.failing_days, least(svc_now(), svc_instant(p_node_ms)), p_after)
  returning s.subscription_id, s.url, s.method, s.audience, s.last_problem;
$$;
