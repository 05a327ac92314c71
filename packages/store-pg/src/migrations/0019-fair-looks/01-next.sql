-- runs-from: 0005-roles
-- What may be sent next is known before anybody looks: a look at what is due costs a probe for each endpoint, however much waits for it.

-- Nothing of the same order waits before it.
alter table event_deliveries add column is_next boolean not null default true;
update event_deliveries as d
set is_next = false
where
  state = 'waiting'
  and order_key is not null
  and exists (
    select
    from event_deliveries as e
    where
      e.subscription_id = d.subscription_id
      and e.order_key = d.order_key
      and e.state = 'waiting'
      and e.position < d.position
  );
create index event_deliveries_next on event_deliveries (subscription_id, next_attempt_at, position)
where state = 'waiting' and is_next;
create index event_deliveries_under_way on event_deliveries (taken_until)
where state = 'waiting' and taken_until is not null;

-- Replays that were asked for, in the hour that begins then.
alter table event_subscriptions
add column replays integer not null default 0,
add column replays_from timestamptz;

-- The first that waits of each of these orders is next. The caller has the subscription's row.
create function svc_find_next(p_subscription_id text, p_order_keys text[])
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  with
    firsts as (
      select
        k.order_key,
        (
          select min(e.position)
          from event_deliveries as e
          where e.subscription_id = p_subscription_id and e.order_key = k.order_key and e.state = 'waiting'
        ) as position
      from (select distinct unnest(p_order_keys) as order_key) as k
    )
  update event_deliveries as d
  set is_next = d.position = f.position
  from firsts as f
  where
    d.subscription_id = p_subscription_id
    and d.order_key = f.order_key
    and d.state = 'waiting'
    and d.is_next != (d.position = f.position);
$$;

-- As in 0014-fair-deliveries, and makes what stood behind it the next one.
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
  v_because text;
  v_is_news boolean;
  v_order_key text;
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
  update event_deliveries
  set
    state = case when p_is_delivered then 'delivered' when p_retry_s is null then 'failed' else 'waiting' end,
    attempts = attempts + 1,
    next_attempt_at = svc_now() + make_interval(secs => coalesce(p_retry_s, 0)),
    taken_until = null,
    last_attempt_at = svc_now(),
    last_status = p_status,
    last_problem = p_problem
  where subscription_id = p_subscription_id and position = p_position and state = 'waiting'
  returning order_key into v_order_key;
  if v_order_key is not null and (p_is_delivered or p_retry_s is null) then
    update event_deliveries
    set is_next = true
    where
      subscription_id = p_subscription_id
      and position = (
        select min(position)
        from event_deliveries
        where subscription_id = p_subscription_id and order_key = v_order_key and state = 'waiting'
      );
  end if;
  if not p_is_delivered then
    v_because := case
      when v_was.disabled_at is not null then null
      when p_is_gone then 'gone'
      when v_was.failing_since <= svc_now() - p_disable_after then 'failing'
    end;
    update event_subscriptions
    set
      failing_since = coalesce(failing_since, svc_now()),
      last_problem = p_problem,
      failures = case when v_is_news then least(failures + 1, 1000) else failures end,
      -- Two seconds, four, eight, ten minutes at most; less by up to a half.
      not_before = case
        when v_is_news
          then svc_now() + least(power(2, least(failures + 1, 20)), 600) * (0.5 + random() / 2) * interval '1 second'
        else not_before
      end,
      disabled_at = case when v_because is null then disabled_at else svc_now() end,
      disabled_because = coalesce(v_because, disabled_because)
    where subscription_id = p_subscription_id;
  elsif v_was.failing_since is not null then
    update event_subscriptions
    set failing_since = null, failures = 0, last_problem = null, not_before = svc_now()
    where subscription_id = p_subscription_id;
    -- It answers again: what waits for it is due within a minute.
    update event_deliveries
    set next_attempt_at = least(next_attempt_at, svc_now() + random() * interval '1 minute')
    where subscription_id = p_subscription_id and state = 'waiting';
  end if;
  return v_because;
end;
$$;
