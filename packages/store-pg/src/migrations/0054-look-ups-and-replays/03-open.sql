-- As in 0034-fair-shares, but what is replayed begins without the schedule of its former life.
create or replace function svc_open_next(
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
          early_attempts = 0,
          scheduled_at = null,
          next_attempt_at = svc_now(),
          taken_until = null,
          is_next = d.order_key is null
        where d.state != 'waiting'
      returning d.order_key
    )
  select (select max(position) from next), array_agg(order_key), count(*)::integer
  from opened;
$$;
