-- Whether an attempt that was begun then is one that a success had brought forward.
create function svc_is_early(p_scheduled_at timestamptz, p_taken_at timestamptz)
returns boolean
language sql
immutable
set search_path = public, pg_temp
as $$
  select coalesce(p_scheduled_at > p_taken_at, false);
$$;

-- As in 0034-fair-shares. The attempts that it answers are those of the ten that were made before the one that the schedule has now.
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
