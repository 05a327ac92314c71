-- Opens deliveries of what the subscription has not read, so many at the most; answers how far it is read, and how many there are.
create function svc_open_next(
  p_subscription event_subscriptions,
  p_room integer,
  out read_to bigint,
  out order_keys text[],
  out opened integer
)
language sql
volatile
set search_path = public, pg_temp
as $$
  with
    next as (
      select l.*
      from
        unnest(svc_audiences_of(p_subscription)) as a (audience),
        lateral (
          select e.*
          from event_log as e
          where e.audience = a.audience and e.position > p_subscription.read_to
          order by e.position
          limit p_room
        ) as l
      order by l.position
      limit p_room
    ),
    opened as (
      insert into event_deliveries as d (subscription_id, position, event_id, type, order_key, is_next)
      select p_subscription.subscription_id, n.position, n.event_id, n.type, n.order_key, n.order_key is null
      from next as n
      where
        (n.type = any (p_subscription.types) or n.audience like 'subscription %')
        and (n.percent is null or n.percent = p_subscription.budget_low_percent)
      -- Replayed.
      on conflict (subscription_id, position) do update
        set
          state = 'waiting',
          attempts = 0,
          next_attempt_at = svc_now(),
          taken_until = null,
          is_next = d.order_key is null
        where d.state != 'waiting'
      returning d.order_key
    )
  select (select max(position) from next), array_agg(order_key), count(*)::integer
  from opened;
$$;

-- As in 0019-fair-looks.
create or replace function svc_open_deliveries(p_subscription_id text, p_window integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_subscription event_subscriptions;
  v_room integer;
  v_next record;
begin
  select *
  into v_subscription
  from event_subscriptions
  where subscription_id = p_subscription_id and disabled_at is null
  for no key update skip locked;
  if not found then
    return 0;
  end if;
  select p_window - count(*)
  into v_room
  from event_deliveries
  where subscription_id = p_subscription_id and state = 'waiting';
  if v_room <= 0 then
    return 0;
  end if;
  select * into v_next from svc_open_next(v_subscription, v_room);
  perform svc_find_next(p_subscription_id, array_remove(v_next.order_keys, null));
  update event_subscriptions
  set read_to = greatest(read_to, v_next.read_to)
  where subscription_id = p_subscription_id;
  return v_next.opened;
end;
$$;
