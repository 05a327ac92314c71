-- runs-from: 0005-roles
-- A look at what is due, and the description of the queue, probed the deliveries of each active subscription. Where they are too many for
-- the time of a read the queue would not be described any more, and with more nothing be sent to anybody. What has no delivery waiting is now not looked at.

create index event_subscriptions_active on event_subscriptions (subscription_id)
where disabled_at is null and method != 'poll';

-- Active subscriptions that are sent to, with a delivery that is due, also where it is under way; one that is disabled or polled may be among them. From an active one to the next that has
-- something waiting, and so on: as many steps as there are of whichever there are fewer of.
create function svc_subscriptions_due(p_now timestamptz)
returns setof text
language sql
stable
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
  with recursive
    firsts as (
      (
        select subscription_id, next_attempt_at
        from event_deliveries
        where state = 'waiting' and is_next
        order by subscription_id, next_attempt_at, position
        limit 1
      )
      union all
      select n.subscription_id, n.next_attempt_at
      from
        firsts as f
        cross join lateral (
          select subscription_id
          from event_subscriptions
          where disabled_at is null and method != 'poll' and subscription_id > f.subscription_id
          order by subscription_id
          limit 1
        ) as s
        cross join lateral (
          select d.subscription_id, d.next_attempt_at
          from event_deliveries as d
          where d.state = 'waiting' and d.is_next and d.subscription_id >= s.subscription_id
          order by d.subscription_id, d.next_attempt_at, d.position
          limit 1
        ) as n
    )
  select f.subscription_id
  from firsts as f
  where f.next_attempt_at <= p_now;
$$;

create or replace function svc_endpoints_at_work(p_methods text[], p_at_once integer, p_now timestamptz)
returns table (subscription_id text, busy integer, room integer, due_at timestamptz, "position" bigint)
language plpgsql
stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  return query with
    busy as materialized (
      select d.subscription_id, count(*)::integer as count
      from event_deliveries as d
      where d.state = 'waiting' and d.taken_until > p_now
      group by d.subscription_id
    ),
    firsts as materialized (
      select s.subscription_id, case when s.failing_since is null then p_at_once else 1 end as most, f.*
      from
        svc_subscriptions_due(p_now) as due (subscription_id)
        join event_subscriptions as s on s.subscription_id = due.subscription_id
        cross join lateral (
          select d.next_attempt_at as due_at, d.position
          from event_deliveries as d
          where
            d.subscription_id = s.subscription_id
            and d.state = 'waiting'
            and d.is_next
            and d.next_attempt_at <= p_now
            and (d.taken_until is null or d.taken_until <= p_now)
          order by d.next_attempt_at, d.position
          limit 1
        ) as f
      where s.disabled_at is null and s.not_before <= p_now and s.method = any (p_methods)
    )
  select
    coalesce(f.subscription_id, b.subscription_id),
    coalesce(b.count, 0),
    greatest(coalesce(f.most, 0) - coalesce(b.count, 0), 0),
    f.due_at,
    f.position
  from firsts as f full join busy as b on b.subscription_id = f.subscription_id;
end;
$$;

-- When the delivery became due that has been due the longest, of endpoints that do not fail and do not ask to wait.
create function svc_due_since(p_methods text[])
returns timestamptz
language sql
stable
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
  select min(f.due_at)
  from
    (select svc_now() as at offset 0) as now
    cross join lateral svc_subscriptions_due(now.at) as due (subscription_id)
    join event_subscriptions as s on s.subscription_id = due.subscription_id
    cross join lateral (
      select d.next_attempt_at as due_at
      from event_deliveries as d
      where
        d.subscription_id = s.subscription_id
        and d.state = 'waiting'
        and d.is_next
        and d.next_attempt_at <= now.at
        and d.taken_until is null
      order by d.next_attempt_at
      limit 1
    ) as f
  where
    s.disabled_at is null
    and s.failing_since is null
    and s.method = any (p_methods)
    and (s.asked_until is null or s.asked_until <= now.at);
$$;
