-- runs-from: 0005-roles
-- Endpoints that fail, and budgets that run low.

-- What the last attempt met with, while it fails.
alter table event_subscriptions add column last_problem text;
update event_subscriptions as s
set last_problem = (
  select d.last_problem
  from event_deliveries as d
  where d.subscription_id = s.subscription_id and d.last_problem is not null
  order by d.last_attempt_at desc
  limit 1
)
where s.failing_since is not null;

-- Pings that were asked for, in the hour that begins then.
alter table event_subscriptions add column pings integer not null default 0, add column pings_from timestamptz;

-- Since when the one who is at it is.
alter table event_deliveries add column taken_at timestamptz;

-- As in 0010-events, and says what was met with. Of those that are under way together the first that fails puts the endpoint off:
-- what was taken before that is no news.
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
  where subscription_id = p_subscription_id and position = p_position and state = 'waiting';
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

-- As in 0010-events; a share counts where the Principal of the Grant, or its org, wants to hear of it.
create or replace function svc_emit_low_budgets(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform
    svc_emit_event(
      'budget.low',
      low.grant_id,
      low.principal,
      null,
      low.at,
      json_build_object(
        'grant_id',
        low.grant_id,
        'principal',
        low.principal,
        'key',
        low.key,
        'percent',
        low.percent
      ),
      low.percent
    )
  from
    (
      select distinct c.grant_id, c.principal, c.key, c.at, w.budget_low_percent as percent
      from
        (
          select
            d.balances_grant_id as grant_id,
            d.budget_key as key,
            max(d.principal) as principal,
            max(to_timestamp(d.evaluated_at_ms / 1000.0)) as at,
            sum(d.delta_total) as delta
          from unnest(p_decisions) as d
          where p_outcomes[d.ordinal] is null and d.budget_key is not null
          group by d.balances_grant_id, d.budget_key
        ) as c
        join consumption_balances as b on b.grant_id = c.grant_id and b.key = c.key
        join event_wants as w
          on w.type = 'budget.low'
          and w.audience = any (
            array[
              'principal ' || c.principal,
              'org ' || (select org_id from principals where did = c.principal)
            ]
          )
      where
        b.limit_total is not null
        and (b.limit_total - b.spent_total) * 100 <= b.limit_total * w.budget_low_percent::numeric
        and (b.limit_total - b.spent_total + c.delta) * 100 > b.limit_total * w.budget_low_percent::numeric
    ) as low;
end;
$$;
