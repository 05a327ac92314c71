-- runs-from: 0005-roles
-- Where a subscription stopped at events that it does not want, nobody knew that the log had more for it: what it wanted came a thousand events a second later.

-- As svc_open_deliveries in 0050-who-is-behind, and says whether there is more to read now: the log has more, and the subscription has room.
create function svc_open_for(
  p_subscription_id text,
  p_window integer,
  out opened integer,
  out has_more boolean
)
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
  opened := 0;
  has_more := false;
  if v_subscription.subscription_id is null then
    return;
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
    return;
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
  opened := v_next.opened;
  has_more := coalesce(v_up_to > v_subscription.read_to, false) and opened < v_room;
end;
$$;

-- For versions without this migration.
create or replace function svc_open_deliveries(p_subscription_id text, p_window integer)
returns integer
language sql
volatile
set search_path = public, pg_temp
as $$
  select opened from svc_open_for(p_subscription_id, p_window);
$$;
