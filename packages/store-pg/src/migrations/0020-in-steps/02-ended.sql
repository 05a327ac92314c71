-- A subscription with a month of deliveries could not be deleted within the time that a call has, nor could a DID with a month of events be released.
-- Both are now ended at once, and what they leave is removed in steps.

-- Of these audiences nothing up to there is anybody's any more.
create table event_floors (
  audience text collate "C" primary key,
  position bigint not null
);

-- Nobody's: no name is like this. Its row stays until its deliveries are gone. Answers whether there was one.
create function svc_end_subscription(p_subscription_id text)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  update event_subscriptions
  set
    audience = 'rp deleted',
    url = '',
    description = null,
    disabled_at = coalesce(disabled_at, svc_now()),
    disabled_because = coalesce(disabled_because, 'owner')
  where subscription_id = p_subscription_id and audience != 'rp deleted';
  if not found then
    return false;
  end if;
  delete from event_wants where subscription_id = p_subscription_id;
  delete from event_secrets where subscription_id = p_subscription_id;
  return true;
end;
$$;

create or replace function svc_forget_audience(p_audience text)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  perform svc_end_subscription(subscription_id) from event_subscriptions where audience = p_audience;
  -- Waits for whoever is moving them: then they are in the log.
  delete from event_outbox where audience = p_audience;
  insert into event_floors as f (audience, position)
  select p_audience, max(position)
  from event_log
  where audience = p_audience
  having max(position) is not null
  on conflict (audience) do update
    set position = greatest(f.position, excluded.position);
end;
$$;

-- As in 0019-fair-looks, whatever there is of deliveries; and what was ended goes too, so many rows of each at a time.
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
  v_nobodys integer;
  v_ended integer;
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
      where position in (select position from event_log where logged_at < v_before order by logged_at limit p_limit)
      returning position
    )
  select max(position), count(*) into v_up_to, v_old from removed;
  for v_left in
    with
      removed as (
        delete from event_deliveries as d
        where
          ctid = any (
            array(
              select gone.ctid
              from
                event_subscriptions as s
                -- Within the subscription: nothing else of the table is looked at.
                cross join lateral (
                  select e.ctid, e.position
                  from event_deliveries as e
                  where e.subscription_id = s.subscription_id and e.position <= v_up_to
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
    group by subscription_id
  loop
    perform svc_find_next(v_left.subscription_id, v_left.order_keys);
  end loop;

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
  get diagnostics v_nobodys = row_count;
  delete from event_floors as f
  where not exists (select from event_log as l where l.audience = f.audience and l.position <= f.position);

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
  get diagnostics v_ended = row_count;
  delete from event_subscriptions as s
  where s.audience = 'rp deleted' and not exists (
    select from event_deliveries as d where d.subscription_id = s.subscription_id
  );
  return greatest(v_old, v_nobodys, v_ended);
end;
$$;
