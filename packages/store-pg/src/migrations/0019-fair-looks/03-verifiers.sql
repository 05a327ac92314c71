-- Who has verified a Grant that is revoked was asked by each subscription that reads the log, for each revocation: the revocations of one
-- Principal could keep everybody's events for hours. Now it is asked once, when the revocation is in the log, beginning with
-- those who have decided on Grants of its Principal.

-- Relying parties, and orgs of such, that have verified the Grant and want to hear of its revocation. `p_of_principal`: hashes of the
-- relying parties with a decision on any Grant of the Principal.
create function svc_verifiers_of(p_principal text, p_grant_id text, p_of_principal integer[])
returns text[]
language sql
stable
set enable_seqscan = off
set search_path = public, pg_temp
as $$
  with
    listeners as materialized (
      select r.did, array_agg(a.audience) as audiences
      from
        (
          select did from relying_parties where hashtext(did) = any (p_of_principal)
          union
          select relying_party from cold_verifications where grant_id = p_grant_id
        ) as v
        join relying_parties as r on r.did = v.did
        cross join lateral (
          values
            ('rp ' || r.did),
            ('org ' || r.org_id)
        ) as a (audience)
      where exists (select from event_wants as w where w.type = 'grant.revoked' and w.audience = a.audience)
      group by r.did
    )
  select coalesce(array_agg(distinct audience), '{}')
  from
    listeners,
    unnest(audiences) as audience
  where did in (select did from listeners where svc_has_verified(array[did], p_principal, p_grant_id));
$$;
create index relying_parties_by_hash on relying_parties (hashtext(did));

-- Hashes of the relying parties with a decision on a Grant of the Principal since then: a probe for each of them.
create function svc_relying_parties_of(p_principal text, p_since timestamptz)
returns integer[]
language plpgsql
stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
declare
  v_from text := svc_lowest_receipt_id(p_since);
  v_last bigint := -2147483649;
  v_found integer[] := '{}';
begin
  loop
    select hashtext(relying_party)
    into v_last
    from receipts
    where
      receipt_id >= v_from
      and hashtext(principal) = hashtext(p_principal)
      and hashtext(relying_party) > v_last
    order by hashtext(relying_party)
    limit 1;
    exit when not found;
    v_found := v_found || v_last::integer;
  end loop;
  return v_found;
end;
$$;

-- Writes for whom a revocation is that is in the log for `verifiers`: rows of the outbox, with the id of that one. Stops after a third of a second;
-- the rest comes next time. Answers how many revocations it has seen to. The caller has the sequencer's lock.
create function svc_tell_verifiers()
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_ends timestamptz := clock_timestamp() + interval '300 milliseconds';
  v_one record;
  v_principal text;
  v_since timestamptz;
  v_of_principal integer[];
  v_told integer := 0;
begin
  for v_one in select
    l.*,
    l.data::json ->> 'principal' as principal,
    l.data::json ->> 'grant_id' as grant_id,
    g.allocated_at - interval '1 minute' as since
  from
    event_log as l
    left join grants as g on g.id = l.data::json ->> 'grant_id'
  where l.audience = 'verifiers'
  order by l.position
  limit 1000 loop
    if v_one.principal is distinct from v_principal or v_one.since < v_since then
      v_principal := v_one.principal;
      v_since := v_one.since;
      v_of_principal := svc_relying_parties_of(v_principal, v_since);
    end if;
    insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
    select v_one.event_id, a.audience, v_one.type, v_one.order_key, v_one.occurred_at, v_one.data
    from unnest(svc_verifiers_of(v_one.principal, v_one.grant_id, v_of_principal)) as a (audience)
    where
      -- Its Principal may be a member of the same org.
      not exists (
        select from event_log as own where own.event_id = v_one.event_id and own.audience = a.audience
      );
    update event_log set audience = 'verifiers told' where position = v_one.position;
    v_told := v_told + 1;
    exit when clock_timestamp() >= v_ends;
  end loop;
  return v_told;
end;
$$;

-- As in 0010-events, and tells those who have verified what is revoked. No two rows are one event for one audience; if they were, the second one
-- would keep back all that comes after it.
create or replace function svc_sequence_events(p_limit integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_moved integer;
begin
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
  with
    ready as (
      select o.seq
      from
        event_outbox as o,
        pg_current_snapshot() as s
      where o.xid < pg_snapshot_xmin(s) or o.xid >= pg_snapshot_xmax(s)
      order by o.xid, o.seq
      limit p_limit
    ),
    taken as (delete from event_outbox where seq in (select seq from ready) returning *),
    logged as (
      insert into event_log (event_id, audience, type, order_key, occurred_at, percent, data)
      select event_id, audience, type, order_key, occurred_at, percent, data
      from taken
      order by xid, seq
      on conflict do nothing
    )
  select count(*)
  into v_moved
  from taken;
  return greatest(v_moved, least(svc_tell_verifiers(), p_limit));
end;
$$;

create or replace function svc_audiences_of(p_subscription event_subscriptions)
returns text[]
language sql
immutable
set search_path = public, pg_temp
as $$
  select array[p_subscription.audience, 'everyone', 'subscription ' || p_subscription.subscription_id];
$$;

-- What all who hear of such things have read already is not told again; what some have not may come twice to the others.
update event_log
set audience = 'verifiers told'
where
  audience = 'verifiers'
  and position <= (
    select coalesce(min(read_to), 9223372036854775807)
    from event_subscriptions
    where audience not like 'principal %' and disabled_at is null
  );

-- As in 0010-events; whoever has verified a Grant is told as everybody is.
create or replace function svc_open_deliveries(p_subscription_id text, p_window integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_subscription event_subscriptions;
  v_room integer;
  v_read_to bigint;
  v_order_keys text[];
  v_opened integer;
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
      insert into event_deliveries as d (subscription_id, position, event_id, type, order_key, is_next)
      select p_subscription_id, n.position, n.event_id, n.type, n.order_key, n.order_key is null
      from next as n
      where
        (n.type = any (v_subscription.types) or n.audience like 'subscription %')
        and (n.percent is null or n.percent = v_subscription.budget_low_percent)
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
  select (select max(position) from next), array_agg(order_key), count(*)
  into v_read_to, v_order_keys, v_opened
  from opened;
  perform svc_find_next(p_subscription_id, array_remove(v_order_keys, null));
  update event_subscriptions
  set read_to = greatest(read_to, v_read_to)
  where subscription_id = p_subscription_id;
  return v_opened;
end;
$$;
