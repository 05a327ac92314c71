-- The first failing endpoints of tenants, whose time has come: from this hash on, and around. The fewer tenants there are, the more of each.
create function svc_first_failing(p_from integer, p_limit integer, p_now timestamptz)
returns table (subscription_id text, noted bigint)
language plpgsql
stable
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  v_after bigint := p_from::bigint - 1;
  v_is_around boolean := false;
  v_first record;
  v_hashes integer[] := '{}';
begin
  for i in 1..p_limit loop
    select whose, look_at into v_first
    from event_due
    where fails and whose > v_after
    order by whose, look_at
    limit 1;
    if not found and not v_is_around then
      v_is_around := true;
      v_after := -2147483649;
      continue;
    end if;
    exit when v_first is null or v_is_around and v_first.whose >= p_from;
    if v_first.look_at <= p_now then
      v_hashes := v_hashes || v_first.whose;
    end if;
    v_after := v_first.whose;
  end loop;
  return query select f.subscription_id, f.noted
    from
      unnest(v_hashes) as h (hash)
      cross join lateral (
        select e.subscription_id, e.noted
        from event_due as e
        where e.fails and e.whose = h.hash and e.look_at <= p_now
        order by e.look_at
        limit p_limit / greatest(1, cardinality(v_hashes))
      ) as f;
end;
$$;

-- Endpoints that a look at this time looks at: all whose time has come and that do not fail; of those that do the ones whose time came first, and where these
-- are many the first of other tenants too, so a tenant with any number of them keeps nobody out.
create function svc_looked_at(p_limit integer, p_now timestamptz)
returns table (subscription_id text, noted bigint)
language sql
stable
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
  with
    longest as materialized (
      select subscription_id, noted
      from event_due
      where fails and look_at <= p_now
      order by look_at
      limit 1024
    )
  select subscription_id, noted
  from event_due
  where not fails and look_at <= p_now
  union all
  (
    select subscription_id, noted from longest
    union
    select f.subscription_id, f.noted
    from
      (select count(*) as count from longest) as l
      cross join lateral svc_first_failing(hashtext(p_now::text), least(p_limit, 256), p_now) as f
    where l.count = 1024
  );
$$;

-- Puts off what was noted too early, and removes what nothing waits for. Waits for nobody: what somebody notes at this moment is left as it is.
-- The caller has the lock of a look.
create function svc_settle_due(p_limit integer, p_now timestamptz)
returns void
language plpgsql
volatile
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
begin
  with
    seen as materialized (
      select
        e.subscription_id,
        e.noted,
        case
          when s.subscription_id is null
          or s.disabled_at is not null
          or s.method = 'poll' then 'infinity'
          -- Under way, also where the time for it is over: until its outcome is noted nothing is put off.
          when e.subscription_id in (
            select b.subscription_id
            from event_deliveries as b
            where b.state = 'waiting' and b.taken_until is not null
          ) then '-infinity'
          when f.due_at is null then 'infinity'
          -- It waits for what signs, not for its receiver: svc_due_since tells for how long.
          when s.failing_since is null
          and (s.asked_until is null or s.asked_until <= p_now) then f.due_at
          else greatest(s.not_before, f.due_at)
        end as wake_at
      from
        svc_looked_at(p_limit, p_now) as e
        left join event_subscriptions as s on s.subscription_id = e.subscription_id
        left join lateral (
          select d.next_attempt_at as due_at
          from event_deliveries as d
          where d.subscription_id = e.subscription_id and d.state = 'waiting' and d.is_next
          order by d.next_attempt_at, d.position
          limit 1
        ) as f
          on true
    ),
    early as materialized (
      select e.subscription_id, n.wake_at
      from
        seen as n
        join event_due as e on e.subscription_id = n.subscription_id and e.noted = n.noted
      where n.wake_at > p_now + interval '2 seconds'
      for update of e skip locked
    ),
    removed as (
      delete from event_due as e
      using early as n
      where e.subscription_id = n.subscription_id and n.wake_at = 'infinity'
    )
  update event_due as e
  set look_at = n.wake_at
  from early as n
  where e.subscription_id = n.subscription_id and n.wake_at < 'infinity';
end;
$$;

-- As in 0053-one-event-that-fails, after what was noted too early is put off.
create or replace function svc_take_in_turn(
  p_methods text[],
  p_limit integer,
  p_places integer,
  p_newcomers integer,
  p_others integer,
  p_at_once integer,
  p_of_tenant integer,
  p_for interval
)
returns table (
  subscription_id text,
  "position" bigint,
  url text,
  event_id text,
  type text,
  occurred_at timestamptz,
  data text,
  attempts integer,
  method text,
  audience text,
  is_newcomer boolean
)
language plpgsql
volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
begin
  -- Of two at a time both would count what is under way without the other.
  perform pg_advisory_xact_lock(11, 2);
  v_now := clock_timestamp();
  perform svc_settle_due(p_limit, v_now);
  return query
    with
      taken as (
        update event_deliveries as t
        set taken_at = v_now, taken_until = v_now + p_for
        from
          (
            select d.subscription_id, d.position, due.is_newcomer
            from
              svc_deliveries_in_turn(p_methods, p_limit, p_places, p_newcomers, p_others, p_at_once, p_of_tenant, v_now) as due
              join event_deliveries as d on d.subscription_id = due.subscription_id and d.position = due.position
            where d.state = 'waiting' and (d.taken_until is null or d.taken_until <= v_now)
            -- What is being noted at this moment comes with the next look.
            for update of d skip locked
          ) as free
        where t.subscription_id = free.subscription_id and t.position = free.position
        returning t.*, free.is_newcomer
      )
    select
      t.subscription_id,
      t.position,
      s.url,
      l.event_id,
      l.type,
      l.occurred_at,
      l.data,
      greatest(t.attempts - t.early_attempts - svc_is_early(t.scheduled_at, v_now)::integer, 0),
      s.method,
      s.audience,
      t.is_newcomer
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$$;

-- As in 0059-due-endpoints, of those that are looked at.
drop function svc_endpoints_at_work(text[], integer, timestamptz);
create function svc_endpoints_at_work(p_methods text[], p_limit integer, p_at_once integer, p_now timestamptz)
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
        svc_looked_at(p_limit, p_now) as due
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

create or replace function svc_endpoints_in_turn(
  p_methods text[],
  p_limit integer,
  p_at_once integer,
  p_of_tenant integer,
  p_now timestamptz
)
returns table (
  subscription_id text,
  tenant text,
  is_newcomer boolean,
  busy integer,
  busy_of_tenant integer,
  room integer
)
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  with
    at_work as materialized (select * from svc_endpoints_at_work(p_methods, p_limit, p_at_once, p_now)),
    of_tenants as (
      select
        w.*,
        t.tenant,
        t.is_newcomer,
        sum(w.busy) over (partition by t.tenant)::integer as busy_of_tenant,
        row_number() over (
          partition by t.tenant
          order by w.room = 0, w.busy, w.due_at, w.position
        ) as place
      from
        at_work as w
        join svc_tenants_of(array(select subscription_id from at_work)) as t
          on t.subscription_id = w.subscription_id
    ),
    of_crowds as (
      select
        o.*,
        row_number() over (
          partition by o.is_newcomer
          order by o.busy_of_tenant + o.place, o.due_at, o.position
        ) as turn
      from of_tenants as o
      where o.room > 0 and o.busy_of_tenant + o.place <= p_of_tenant
    )
  select c.subscription_id, c.tenant, c.is_newcomer, c.busy, c.busy_of_tenant, c.room
  from of_crowds as c
  where c.turn <= p_limit;
$$;

-- When the delivery became due that has been due the longest, of endpoints that do not fail and do not ask to wait.
create or replace function svc_due_since(p_methods text[])
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
    join event_due as e on not e.fails and e.look_at <= now.at
    join event_subscriptions as s on s.subscription_id = e.subscription_id
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

drop function svc_subscriptions_due(timestamptz);
drop index event_subscriptions_active;
