-- From the log to endpoints. Of each subscription so many deliveries are open at a time; what is behind them waits in the log.

create table event_deliveries (
  subscription_id text collate "C" not null references event_subscriptions
    on delete cascade,
  -- Of the event in the log.
  position bigint not null,
  event_id text collate "C" not null,
  type text not null,
  order_key text collate "C",
  -- `failed`: not tried again.
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default svc_now(),
  -- Somebody is at it until then.
  taken_until timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_problem text,
  primary key (subscription_id, position)
);
create index event_deliveries_waiting on event_deliveries (subscription_id, position) where state = 'waiting';
create index event_deliveries_in_order on event_deliveries (subscription_id, order_key, position)
where state = 'waiting' and order_key is not null;

-- Who has verified a Grant: a relying party with a decision on it as its Principal has signed it, not before it was allocated.
create function svc_has_verified(p_relying_parties text[], p_principal text, p_grant_id text)
returns boolean
language sql
stable
set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select
    exists (
      select
      from
        unnest(p_relying_parties) as rp (did),
        receipts as r
      where
        r.receipt_id >= (
          select svc_lowest_receipt_id(allocated_at - interval '1 minute') from grants where id = p_grant_id
        )
        and hashtext(r.principal) = hashtext(p_principal)
        and hashtext(r.relying_party) = hashtext(rp.did)
        and hashtext(r.grant_id) = hashtext(p_grant_id)
        and r.principal = p_principal
        and r.relying_party = rp.did
        and r.grant_id = p_grant_id
    );
$$;

-- The audiences that a subscription hears.
create function svc_audiences_of(p_subscription event_subscriptions)
returns text[]
language sql
immutable
set search_path = public, pg_temp
as $$
  select
    array[
      p_subscription.audience,
      'everyone',
      'subscription ' || p_subscription.subscription_id,
      case
        when p_subscription.audience not like 'principal %' then 'verifiers'
      end
    ];
$$;

-- Subscriptions for which the log has something that they have not read.
create function svc_subscriptions_behind()
returns setof text
language sql
stable
set search_path = public, pg_temp
as $$
  select s.subscription_id
  from event_subscriptions as s
  where
    s.disabled_at is null
    and exists (
      select
      from
        unnest(svc_audiences_of(s)) as a (audience),
        lateral (
          select from event_log as l where l.audience = a.audience and l.position > s.read_to limit 1
        ) as l
    );
$$;

-- Opens deliveries of a subscription, so that at most `p_window` are open. Answers how many it opened.
create function svc_open_deliveries(p_subscription_id text, p_window integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_subscription event_subscriptions;
  v_kind text;
  v_name text;
  v_members text[] := '{}';
  v_room integer;
  v_read_to bigint;
  v_opened integer;
begin
  select * into v_subscription
  from event_subscriptions
  where subscription_id = p_subscription_id and disabled_at is null
  for no key update skip locked;
  if not found then
    return 0;
  end if;
  select p_window - count(*) into v_room
  from event_deliveries
  where subscription_id = p_subscription_id and state = 'waiting';
  if v_room <= 0 then
    return 0;
  end if;
  v_kind := split_part(v_subscription.audience, ' ', 1);
  v_name := split_part(v_subscription.audience, ' ', 2);
  if v_kind = 'rp' then
    v_members := array[v_name];
  elsif v_kind = 'org' then
    v_members := array(select did from relying_parties where org_id = v_name);
  end if;
  with
    next as (
      select l.*
      from
        unnest(svc_audiences_of(v_subscription)) as a (audience),
        lateral (
          select e.*
          from event_log as e
          where e.audience = a.audience and e.position > v_subscription.read_to
          order by e.position
          limit v_room
        ) as l
      order by l.position
      limit v_room
    ),
    opened as (
      insert into event_deliveries as d (subscription_id, position, event_id, type, order_key)
      select p_subscription_id, n.position, n.event_id, n.type, n.order_key
      from next as n
      where
        (n.type = any (v_subscription.types) or n.audience like 'subscription %')
        and (n.percent is null or n.percent = v_subscription.budget_low_percent)
        and (
          n.audience != 'verifiers'
          or (
            -- Its Principal may be a member of the same org.
            not exists (
              select from event_log as own
              where own.event_id = n.event_id and own.audience = v_subscription.audience
            )
            and svc_has_verified(v_members, n.data::json ->> 'principal', n.data::json ->> 'grant_id')
          )
        )
      -- Replayed.
      on conflict (subscription_id, position) do update
        set
          state = 'waiting',
          attempts = 0,
          next_attempt_at = svc_now(),
          taken_until = null
        where d.state != 'waiting'
      returning 1
    )
  select (select max(position) from next), (select count(*) from opened)
  into v_read_to, v_opened;
  update event_subscriptions
  set read_to = greatest(read_to, v_read_to)
  where subscription_id = p_subscription_id;
  return v_opened;
end;
$$;

-- Takes deliveries that are due for so long, one of each endpoint before a second of any. Of an endpoint `p_at_once` are under
-- way at a time, one while it fails; of what has an order the first alone.
create function svc_take_deliveries(p_limit integer, p_at_once integer, p_for interval)
returns table (
  subscription_id text,
  "position" bigint,
  url text,
  event_id text,
  type text,
  occurred_at timestamptz,
  data text,
  attempts integer
)
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  -- Of two at a time both would count what is under way without the other.
  perform pg_advisory_xact_lock(11, 2);
  return query
    with
      due as (
        select d.subscription_id, d.position
        from
          event_subscriptions as s
          cross join lateral (
            select count(*)::integer as count
            from event_deliveries as b
            where
              b.subscription_id = s.subscription_id
              and b.state = 'waiting'
              and b.taken_until > clock_timestamp()
          ) as busy
          cross join lateral (
            select w.subscription_id, w.position, row_number() over (order by w.position) as place
            from event_deliveries as w
            where
              w.subscription_id = s.subscription_id
              and w.state = 'waiting'
              and w.next_attempt_at <= clock_timestamp()
              and (w.taken_until is null or w.taken_until <= clock_timestamp())
              and not exists (
                select from event_deliveries as e
                where
                  e.subscription_id = w.subscription_id
                  and e.order_key = w.order_key
                  and e.state = 'waiting'
                  and e.position < w.position
              )
            order by w.position
            limit greatest(case when s.failing_since is null then p_at_once else 1 end - busy.count, 0)
          ) as d
        where s.disabled_at is null and s.not_before <= clock_timestamp()
        order by d.place, d.position
        limit p_limit
      ),
      taken as (
        update event_deliveries as t
        set taken_until = clock_timestamp() + p_for
        from due
        where t.subscription_id = due.subscription_id and t.position = due.position
        returning t.*
      )
    select t.subscription_id, t.position, s.url, l.event_id, l.type, l.occurred_at, l.data, t.attempts
    from
      taken as t
      join event_subscriptions as s on s.subscription_id = t.subscription_id
      join event_log as l on l.position = t.position
    order by t.position;
end;
$$;

-- What came of an attempt. `p_retry_s`: after how many seconds the next one is due; null: there is none. An endpoint that
-- has failed for `p_disable_after` without one success in between is disabled. Answers why it was disabled by this, else null.
create function svc_note_delivery(
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
declare
  v_was event_subscriptions;
  v_because text;
begin
  select * into v_was
  from event_subscriptions
  where subscription_id = p_subscription_id
  for no key update;
  if not found then
    return null;
  end if;
  update event_deliveries
  set
    state = case when p_is_delivered then 'delivered' when p_retry_s is null then 'failed' else 'waiting' end,
    attempts = attempts + 1,
    next_attempt_at = svc_now() + make_interval(secs => coalesce(p_retry_s, 0)),
    taken_until = null,
    last_attempt_at = svc_now(),
    last_status = p_status,
    last_problem = p_problem
  where subscription_id = p_subscription_id and position = p_position and state = 'waiting';
  if not p_is_delivered then
    v_because := case
      when v_was.disabled_at is not null then null
      when p_is_gone then 'gone'
      when v_was.failing_since <= svc_now() - p_disable_after then 'failing'
    end;
    update event_subscriptions
    set
      failing_since = coalesce(failing_since, svc_now()),
      failures = least(failures + 1, 1000),
      -- Two seconds, four, eight, ten minutes at most; less by up to a half.
      not_before = svc_now() + least(power(2, least(failures + 1, 20)), 600) * (0.5 + random() / 2) * interval '1 second',
      disabled_at = case when v_because is null then disabled_at else svc_now() end,
      disabled_because = coalesce(v_because, disabled_because)
    where subscription_id = p_subscription_id;
  elsif v_was.failing_since is not null then
    update event_subscriptions
    set failing_since = null, failures = 0, not_before = svc_now()
    where subscription_id = p_subscription_id;
    -- It answers again: what waits for it is due within a minute.
    update event_deliveries
    set next_attempt_at = least(next_attempt_at, svc_now() + random() * interval '1 minute')
    where subscription_id = p_subscription_id and state = 'waiting';
  end if;
  return v_because;
end;
$$;

-- Removes up to so many events of before that time, what became of them, and the wants of subscriptions that have been
-- disabled for as long: what they miss is forgotten anyway. By the clock or p_node_ms, whichever is earlier.
create function svc_forget_events(p_limit integer, p_kept interval, p_node_ms bigint)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_before timestamptz := least(svc_now(), svc_instant(p_node_ms)) - p_kept;
  v_position bigint;
  v_removed integer;
begin
  delete from event_wants
  where
    subscription_id in (select subscription_id from event_subscriptions where disabled_at < v_before);
  delete from event_log
  where position in (select position from event_log where logged_at < v_before order by logged_at limit p_limit);
  get diagnostics v_removed = row_count;
  select coalesce(min(position), 9223372036854775807) into v_position from event_log;
  delete from event_deliveries as d
  using event_subscriptions as s
  where d.subscription_id = s.subscription_id and d.position < v_position and not exists (
    select from event_log as l where l.position = d.position
  );
  return v_removed;
end;
$$;
