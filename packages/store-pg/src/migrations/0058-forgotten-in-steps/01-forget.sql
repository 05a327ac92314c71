-- runs-from: 0005-roles
-- A step of forgetting was bounded in events, and deleted all their deliveries: of what everyone is told, as many as there are subscribers. Where
-- they are too many for the time of a statement nothing would be forgotten any more. A step now deletes so many deliveries at most, and an event goes once it has none.
create index if not exists event_deliveries_by_position on event_deliveries (position);

create index event_subscriptions_disabled on event_subscriptions (disabled_at) where disabled_at is not null;

create or replace function svc_forget_events(p_limit integer, p_kept interval, p_node_ms bigint)
returns integer
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_before timestamptz := least(svc_now(), svc_instant(p_node_ms)) - p_kept;
  v_old bigint[];
  v_deliveries integer;
  v_events integer;
begin
  delete from event_wants
  where
    subscription_id in (
      select s.subscription_id
      from event_subscriptions as s
      where
        s.disabled_at < v_before and exists (select from event_wants as w where w.subscription_id = s.subscription_id)
      limit p_limit
      for no key update skip locked
    );
  v_old := array(
    select position from event_log where logged_at < v_before order by logged_at limit p_limit
  );
  v_deliveries := svc_forget_deliveries(v_old, p_limit);
  -- One that is opened at this moment is deleted as one without its event.
  delete from event_log as l
  where
    l.position = any (v_old) and not exists (select from event_deliveries as d where d.position = l.position);
  get diagnostics v_events = row_count;
  return greatest(v_deliveries, v_events, svc_forget_floors(p_limit), svc_forget_ended(p_limit));
end;
$$;

-- Those of these events, and those that are older than all that the log has. Answers how many.
create function svc_forget_deliveries(p_positions bigint[], p_limit integer)
returns integer
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_ids text[];
  v_positions bigint[];
  v_removed integer := 0;
  v_left record;
begin
  select array_agg(g.subscription_id), array_agg(g.position)
  into v_ids, v_positions
  from
    (
      (
        select e.subscription_id, e.position
        from event_deliveries as e
        where e.position < coalesce((select min(position) from event_log), 9223372036854775807)
        order by e.position
        limit p_limit
      )
      union all
      select d.subscription_id, d.position
      from
        unnest(p_positions) as p (position)
        cross join lateral (
          select e.subscription_id, e.position
          from event_deliveries as e
          where e.position = p.position
          limit p_limit
        ) as d
      limit p_limit
    ) as g;
  -- What is next in order is found with the rows of the subscriptions.
  perform
  from event_subscriptions
  where subscription_id = any (v_ids)
  order by subscription_id
  for no key update;
  for v_left in with
    removed as (
      delete from event_deliveries as d
      using unnest(v_ids, v_positions) as g (subscription_id, position)
      where d.subscription_id = g.subscription_id and d.position = g.position
      returning d.subscription_id, d.order_key, d.state
    )
  select
    subscription_id,
    count(*)::integer as count,
    array_agg(distinct order_key) filter (where state = 'waiting' and order_key is not null) as order_keys
  from removed
  group by subscription_id loop
    v_removed := v_removed + v_left.count;
    if v_left.order_keys is not null then
      perform svc_find_next(v_left.subscription_id, v_left.order_keys);
    end if;
  end loop;
  return v_removed;
end;
$$;

drop function svc_forget_deliveries(bigint);
