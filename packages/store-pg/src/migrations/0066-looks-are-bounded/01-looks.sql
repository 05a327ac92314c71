-- runs-from: 0005-roles
-- A look at what is due looked at every endpoint that does not fail, and compared each with each, since its functions had the planner's switches of what
-- called them. With some thousands due at once it was cancelled each time, and nothing was sent to anybody.

drop index event_due_well;
drop index event_due_failing;
drop index event_due_failing_in_turn;
create index event_due_longest on event_due (fails, look_at);
create index event_due_in_turn on event_due (fails, whose, look_at);

drop function svc_first_failing(integer, integer, timestamptz);

-- The first endpoints of tenants, of those that fail or of the others, whose time has come: from this hash on, and around. The fewer tenants there are, the
-- more of each.
create function svc_first_due(
  p_fails boolean,
  p_from integer,
  p_tenants integer,
  p_limit integer,
  p_now timestamptz
)
returns table (subscription_id text, noted bigint)
language plpgsql
stable
set plan_cache_mode = force_generic_plan
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
  for i in 1..p_tenants loop
    select whose, look_at into v_first
    from event_due
    where fails = p_fails and whose > v_after
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
        where e.fails = p_fails and e.whose = h.hash and e.look_at <= p_now
        order by e.look_at
        limit greatest(1, p_limit / cardinality(v_hashes))
      ) as f;
end;
$$;

-- Endpoints that a look at this time looks at: of those that fail, and of the others, the ones whose time came first, and where these are many the first of
-- other tenants too, so a tenant with any number of them keeps nobody out.
create or replace function svc_looked_at(p_limit integer, p_now timestamptz)
returns table (subscription_id text, noted bigint)
language sql
stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
  with
    longest as materialized (
      select k.fails, e.subscription_id, e.noted
      from
        unnest(array[false, true]) as k (fails)
        cross join lateral (
          select subscription_id, noted
          from event_due
          where fails = k.fails and look_at <= p_now
          order by look_at
          limit 1024
        ) as e
    )
  select subscription_id, noted
  from longest
  union
  select f.subscription_id, f.noted
  from
    (select fails from longest group by fails having count(*) = 1024) as l
    cross join lateral svc_first_due(
      l.fails,
      hashtext(p_now::text),
      greatest(p_limit, 256),
      1024,
      p_now
    ) as f;
$$;

-- No plan of a look depends on what calls its function.
alter function svc_deliveries_in_turn(
  text[],
  integer,
  integer,
  integer,
  integer,
  integer,
  integer,
  timestamptz
)
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_hashjoin = on
set enable_mergejoin = on;
alter function svc_deliveries_due(text[], integer, integer, integer, timestamptz)
set enable_hashjoin = on
set enable_mergejoin = on;
alter function svc_endpoints_in_turn(text[], integer, integer, integer, timestamptz)
set plan_cache_mode = force_custom_plan
set enable_hashjoin = on
set enable_mergejoin = on;
alter function svc_tenants_of(text[])
set plan_cache_mode = force_custom_plan
set enable_hashjoin = on
set enable_mergejoin = on;
