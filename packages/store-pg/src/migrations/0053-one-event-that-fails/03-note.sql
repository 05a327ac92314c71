-- As in 0034-fair-shares, but an attempt that a success had brought forward leaves the schedule as it was.
create or replace function svc_note_attempt(
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
    early_attempts = early_attempts + svc_is_early(scheduled_at, taken_at)::integer,
    next_attempt_at = case
      when svc_is_early(scheduled_at, taken_at) then scheduled_at
      else svc_now() + make_interval(secs => coalesce(p_retry_s, 0))
    end,
    scheduled_at = case
      when svc_is_early(scheduled_at, taken_at) then scheduled_at
    end,
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

-- It answers again: what waits for it is due within a minute. What was tried in vain since a success brought it forward is brought forward again an
-- hour after that. A wait that was asked for ends with a success that was taken after it; one that was under way says nothing of it.
create function svc_note_recovery(p_subscription_id text, p_taken_at timestamptz)
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
    not_before = case
      when asked_until > coalesce(p_taken_at, svc_now()) then greatest(asked_until, svc_now())
      else svc_now()
    end
  where subscription_id = p_subscription_id;
  update event_deliveries
  set
    scheduled_at = coalesce(scheduled_at, next_attempt_at),
    next_attempt_at = svc_now() + random() * interval '1 minute'
  where
    subscription_id = p_subscription_id
    and state = 'waiting'
    and next_attempt_at > svc_now() + interval '1 minute'
    and (scheduled_at is null or last_attempt_at <= svc_now() - interval '1 hour');
$$;

-- As in 0034-fair-shares; a recovery is told when the success was taken.
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
  v_taken_at timestamptz;
begin
  select * into v_was
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update;
  if not found then
    return null;
  end if;
  select taken_at into v_taken_at
  from event_deliveries
  where subscription_id = p_subscription_id and position = p_position;
  perform svc_note_attempt(p_subscription_id, p_position, p_is_delivered, p_status, p_problem, p_retry_s);
  if not p_is_delivered then
    v_failing_days := svc_failing_days(v_was);
    v_because := case
      when v_was.disabled_at is not null then null
      when p_is_gone then 'gone'
      when svc_has_failed(v_was.failing_since, v_failing_days, svc_now(), p_disable_after) then 'failing'
    end;
    perform svc_note_failure(
      p_subscription_id,
      coalesce(v_taken_at >= v_was.not_before, true),
      p_problem,
      v_failing_days,
      v_because
    );
  elsif v_was.failing_since is not null then
    perform svc_note_recovery(p_subscription_id, v_taken_at);
  end if;
  return v_because;
end;
$$;

drop function svc_note_recovery(text);
