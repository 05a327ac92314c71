-- Whose turn it is of those who are behind, so many of each line. They go to the end of theirs, so whoever cannot be opened now keeps nobody behind it.
create function svc_take_behind(p_limit integer)
returns setof text
language sql
volatile
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  with
    next as materialized (
      select n.subscription_id, l.line, n.turn
      from
        unnest(array['news', 'rest', 'full']) as l (line)
        cross join lateral (
          select b.subscription_id, b.turn
          from event_behind as b
          where b.line = l.line
          order by b.turn
          limit p_limit
          for no key update skip locked
        ) as n
    ),
    taken as (
      update event_behind as b
      set turn = default
      from next as n
      where b.subscription_id = n.subscription_id
    )
  select subscription_id
  from next
  order by
    row_number() over (
      partition by line
      order by turn
    ),
    line;
$$;

-- For versions before this one.
create or replace function svc_subscriptions_behind()
returns setof text
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  select n.subscription_id
  from
    unnest(array['news', 'rest', 'full']) as l (line)
    cross join lateral (
      select b.subscription_id, b.turn
      from event_behind as b
      where b.line = l.line
      order by b.turn
      limit 1000
    ) as n
  order by
    row_number() over (
      partition by l.line
      order by n.turn
    ),
    l.line;
$$;

-- The subscription where it may be read for; else null, and where it may not be until it is enabled, or is gone, it is not behind any more.
create function svc_hold_reader(p_subscription_id text)
returns event_subscriptions
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_subscription event_subscriptions;
begin
  select *
  into v_subscription
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update skip locked;
  if found and v_subscription.disabled_at is null then
    return v_subscription;
  end if;
  delete from event_behind as b
  where
    b.subscription_id = p_subscription_id
    and (
      v_subscription.disabled_at is not null
      or not exists (select from event_subscriptions as s where s.subscription_id = b.subscription_id)
    );
  return null;
end;
$$;

-- As in 0034-fair-shares, and it is behind until it has read all that it was noted for. Where nothing of that is left, as it was forgotten or is read, it is read up to
-- there: what was noted before the log is read is in it.
create or replace function svc_open_deliveries(p_subscription_id text, p_window integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_subscription event_subscriptions := svc_hold_reader(p_subscription_id);
  v_up_to bigint;
  v_room integer;
  v_next record;
begin
  if v_subscription.subscription_id is null then
    return 0;
  end if;
  select up_to into v_up_to from event_behind where subscription_id = p_subscription_id;
  select p_window - count(*)
  into v_room
  from event_deliveries
  where subscription_id = p_subscription_id and state = 'waiting';
  if v_room <= 0 then
    update event_behind
    set line = 'full'
    where subscription_id = p_subscription_id and line != 'full';
    return 0;
  end if;
  select * into v_next from svc_open_next(v_subscription, v_room);
  perform svc_find_next(p_subscription_id, array_remove(v_next.order_keys, null));
  v_subscription.read_to := greatest(v_subscription.read_to, coalesce(v_next.read_to, v_up_to));
  update event_subscriptions
  set read_to = v_subscription.read_to
  where subscription_id = p_subscription_id;
  -- What was noted meanwhile stays.
  delete from event_behind
  where subscription_id = p_subscription_id and up_to <= v_subscription.read_to;
  return v_next.opened;
end;
$$;
