-- Forgetting in the parts that it has. What stood behind what is forgotten became the next one without its subscription's row, beside whoever noted
-- a delivery of it then.

-- Deliveries of events that are gone, up to there.
create function svc_forget_deliveries(p_up_to bigint)
returns void
language plpgsql
volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_subscriptions text[];
  v_left record;
begin
  v_subscriptions := array(
    select s.subscription_id
    from event_subscriptions as s
    where
      exists (
        select
        from event_deliveries as e
        where e.subscription_id = s.subscription_id and e.position <= p_up_to
      )
    order by s.subscription_id
    for no key update of s
  );
  for v_left in with
    removed as (
      delete from event_deliveries as d
      where
        ctid = any (
          array(
            select gone.ctid
            from
              unnest(v_subscriptions) as s (subscription_id)
              -- Within the subscription: nothing else of the table is looked at.
              cross join lateral (
                select e.ctid, e.position
                from event_deliveries as e
                where e.subscription_id = s.subscription_id and e.position <= p_up_to
                offset 0
              ) as gone
            where not exists (select from event_log as l where l.position = gone.position)
          )
        )
      returning d.subscription_id, d.order_key, d.state
    )
  select subscription_id, array_agg(distinct order_key) as order_keys
  from removed
  where state = 'waiting' and order_key is not null
  group by subscription_id loop
    perform svc_find_next(v_left.subscription_id, v_left.order_keys);
  end loop;
end;
$$;

-- Events of audiences that are nobody's any more.
create function svc_forget_floors(p_limit integer)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_removed integer;
begin
  delete from event_log
  where
    position in (
      select l.position
      from
        event_floors as f
        cross join lateral (
          select e.position
          from event_log as e
          where e.audience = f.audience and e.position <= f.position
          order by e.position
          limit p_limit
        ) as l
      limit p_limit
    );
  get diagnostics v_removed = row_count;
  delete from event_floors as f
  where not exists (select from event_log as l where l.audience = f.audience and l.position <= f.position);
  return v_removed;
end;
$$;

-- Subscriptions that are ended, and what is left of them.
create function svc_forget_ended(p_limit integer)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_removed integer;
begin
  delete from event_deliveries as d
  using
    (
      select s.subscription_id, e.position
      from
        event_subscriptions as s
        cross join lateral (
          select position from event_deliveries where subscription_id = s.subscription_id order by position limit p_limit
        ) as e
      where s.audience = 'rp deleted'
      limit p_limit
    ) as ended
  where d.subscription_id = ended.subscription_id and d.position = ended.position;
  get diagnostics v_removed = row_count;
  delete from event_subscriptions as s
  where s.audience = 'rp deleted' and not exists (
    select from event_deliveries as d where d.subscription_id = s.subscription_id
  );
  return v_removed;
end;
$$;

-- As in 0020-in-steps.
create or replace function svc_forget_events(p_limit integer, p_kept interval, p_node_ms bigint)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set search_path = public, pg_temp
as $$
declare
  v_before timestamptz := least(svc_now(), svc_instant(p_node_ms)) - p_kept;
  v_up_to bigint;
  v_old integer;
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
  into v_up_to, v_old
  from removed;
  perform svc_forget_deliveries(v_up_to);
  return greatest(v_old, svc_forget_floors(p_limit), svc_forget_ended(p_limit));
end;
$$;
