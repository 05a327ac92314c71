-- runs-from: 0005-roles
-- Streams that are pushed (RFC 8935, protocol §17, decision 86): sent by the worker as webhooks are, with what their receivers want to see as Authorization.
alter table event_subscriptions drop constraint event_subscriptions_method_check;
alter table event_subscriptions
add constraint event_subscriptions_method_check check (method in ('webhook', 'poll', 'push'));

-- The header is sealed under the root of that name (service/src/ssf/authorization.ts), for this stream and the URL of its subscription.
alter table event_streams
add column authorization_root text,
add column authorization_sealed text,
add constraint event_streams_authorization_check check ((authorization_root is null) = (authorization_sealed is null));

-- As in 0020-in-steps, and no header is left of it.
create or replace function svc_end_subscription(p_subscription_id text)
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
  update event_streams
  set authorization_root = null, authorization_sealed = null
  where subscription_id = p_subscription_id;
  return true;
end;
$$;

-- What came of pushing to that URL. Where the stream goes elsewhere since, a failure there says nothing of it, and the delivery is free again.
create function svc_note_push(
  p_url text,
  p_subscription_id text,
  p_position bigint,
  p_is_delivered boolean,
  p_is_gone boolean,
  p_status integer,
  p_problem text,
  p_retry_s double precision,
  p_disable_after interval
)
returns text
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  perform from event_subscriptions
  where subscription_id = p_subscription_id and (p_is_delivered or (method = 'push' and url = p_url))
  for no key update;
  if not found then
    update event_deliveries
    set taken_until = null
    where subscription_id = p_subscription_id and position = p_position and state = 'waiting';
    return null;
  end if;
  return svc_note_delivery(
    p_subscription_id,
    p_position,
    p_is_delivered,
    p_is_gone,
    p_status,
    p_problem,
    p_retry_s,
    p_disable_after
  );
end;
$$;

-- A stream goes there from now on, and what waits for it with it: at once, in order, as if nothing had been tried.
create function svc_direct_stream(p_subscription_id text, p_method text, p_url text)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  update event_subscriptions
  set method = p_method, url = p_url, failing_since = null, failures = 0, last_problem = null, not_before = svc_now()
  where subscription_id = p_subscription_id and (method != p_method or url != p_url);
  if not found then
    return;
  end if;
  perform svc_begin_anew(p_subscription_id);
end;
$$;

-- What waits is due, in order, as if nothing had been tried. The order is made anew: what is polled for is taken in any.
create function svc_begin_anew(p_subscription_id text)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_deliveries
  set attempts = 0, next_attempt_at = svc_now()
  where subscription_id = p_subscription_id and state = 'waiting';
  select
    svc_find_next(
      p_subscription_id,
      array(
        select distinct order_key
        from event_deliveries
        where subscription_id = p_subscription_id and state = 'waiting' and order_key is not null
      )
    );
$$;
