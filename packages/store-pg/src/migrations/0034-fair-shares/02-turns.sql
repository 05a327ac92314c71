-- Of endpoints in turn what is due, numbered: as which of its tenant it would be under way.
create function svc_deliveries_due(
  p_methods text[],
  p_limit integer,
  p_at_once integer,
  p_of_tenant integer,
  p_now timestamptz
)
returns table (subscription_id text, "position" bigint, due_at timestamptz, is_newcomer boolean, place bigint)
language plpgsql
stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  return query select
    e.subscription_id,
    d.position,
    d.due_at,
    e.is_newcomer,
    e.busy_of_tenant + row_number() over (partition by e.tenant order by e.busy + d.place, d.due_at, d.position)
  from
    svc_endpoints_in_turn(p_methods, p_limit, p_at_once, p_of_tenant, p_now) as e
    cross join lateral (
      select
        w.position,
        w.next_attempt_at as due_at,
        row_number() over (order by w.next_attempt_at, w.position) as place
      from event_deliveries as w
      where
        w.subscription_id = e.subscription_id
        and w.state = 'waiting'
        and w.is_next
        and w.next_attempt_at <= p_now
        and (w.taken_until is null or w.taken_until <= p_now)
      order by w.next_attempt_at, w.position
      limit e.room
    ) as d;
end;
$$;

-- Whose turn it is of what is due. Tenants get one place each before any gets a second. Newcomers together have half of the places, the others what
-- newcomers have not; in each crowd a tenant has its share (svc_share). `p_newcomers` and `p_others` are under way in the process that asks.
create function svc_deliveries_in_turn(
  p_methods text[],
  p_limit integer,
  p_places integer,
  p_newcomers integer,
  p_others integer,
  p_at_once integer,
  p_of_tenant integer,
  p_now timestamptz
)
returns table (subscription_id text, "position" bigint, is_newcomer boolean)
language sql
stable
set search_path = public, pg_temp
as $$
  with
    due as materialized (
      select
        d.*,
        row_number() over (
          partition by d.is_newcomer
          order by d.place, d.due_at, d.position
        ) as turn
      from svc_deliveries_due(p_methods, p_limit, p_at_once, p_of_tenant, p_now) as d
      where d.place <= p_of_tenant
    ),
    newcomers as materialized (
      select d.*
      from
        due as d,
        (select (p_places + 1) / 2 as places) as half
      where
        d.is_newcomer
        and p_newcomers + d.turn <= half.places
        and d.place <= svc_share(p_newcomers + d.turn, half.places, p_of_tenant)
    ),
    others as (
      select d.*
      from
        due as d,
        (select p_places - p_newcomers - count(*)::integer as places from newcomers) as rest
      where not d.is_newcomer and d.place <= svc_share(p_others + d.turn, rest.places, p_of_tenant)
    )
  select a.subscription_id, a.position, a.is_newcomer
  from
    (
      select * from newcomers
      union all
      select * from others
    ) as a
  order by a.place, a.due_at, a.position
  limit p_limit;
$$;

create function svc_take_in_turn(
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
    select t.subscription_id, t.position, s.url, l.event_id, l.type, l.occurred_at, l.data, t.attempts, s.method, s.audience, t.is_newcomer
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$$;

-- For versions before this one, which know no crowds.
create or replace function svc_take_to_send(
  p_methods text[],
  p_limit integer,
  p_at_once integer,
  p_of_audience integer,
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
  audience text
)
language sql
volatile
set search_path = public, pg_temp
as $$
  select subscription_id, position, url, event_id, type, occurred_at, data, attempts, method, audience
  from svc_take_in_turn(p_methods, p_limit, 100000000, 0, 0, p_at_once, p_of_audience, p_for);
$$;
