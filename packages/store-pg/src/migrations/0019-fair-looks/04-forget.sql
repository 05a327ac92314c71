-- As in 0010-events, and whatever the clock did: a row that is kept for longer because it was dated later keeps no delivery of others, and none is
-- left without its event. A subscription that is being enabled keeps its wants.
create or replace function svc_forget_events(p_limit integer, p_kept interval, p_node_ms bigint)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_before timestamptz := least(svc_now(), svc_instant(p_node_ms)) - p_kept;
  v_up_to bigint;
  v_removed integer;
  v_left record;
begin
  delete from event_wants
  where
    subscription_id in (
      select subscription_id
      from event_subscriptions
      where disabled_at < v_before
      for no key update skip locked
    );
  with
    removed as (
      delete from event_log
      where
        position in (
          select position from event_log where logged_at < v_before order by logged_at limit p_limit
        )
      returning position
    )
  select max(position), count(*)
  into v_up_to, v_removed
  from removed;
  for v_left in with
    removed as (
      delete from event_deliveries as d
      using event_subscriptions as s
      where
        d.subscription_id = s.subscription_id
        and d.position <= v_up_to
        and not exists (select from event_log as l where l.position = d.position)
      returning d.subscription_id, d.order_key, d.state
    )
  select subscription_id, array_agg(distinct order_key) as order_keys
  from removed
  where state = 'waiting' and order_key is not null
  group by subscription_id loop
    perform svc_find_next(v_left.subscription_id, v_left.order_keys);
  end loop;
  return v_removed;
end;
$$;
