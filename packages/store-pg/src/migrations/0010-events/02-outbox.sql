-- The outbox: an event is a row that is written in the transaction of the fact that it tells, one for each audience that wants
-- it. A worker moves rows into the log when no transaction is under way any more that could still write an earlier one, and
-- gives each its position then. So the log is in the order of transactions, and read in the order of positions nothing is missed.

create table event_outbox (
  seq bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  event_id text collate "C" not null,
  audience text collate "C" not null,
  type text collate "C" not null,
  -- Events of one key are delivered in order: the Grant's id where it is about one, else the subject. Null: in no order.
  order_key text collate "C",
  occurred_at timestamptz not null,
  -- Of `budget.low`, for subscriptions with this share.
  percent integer,
  -- As sent: text, so that its members keep their order.
  data text not null
);

create table event_log (
  position bigint generated always as identity primary key,
  event_id text collate "C" not null,
  audience text collate "C" not null,
  type text collate "C" not null,
  order_key text collate "C",
  occurred_at timestamptz not null,
  percent integer,
  data text not null,
  logged_at timestamptz not null default svc_now()
);
create index event_log_by_audience on event_log (audience, position);
create unique index event_log_by_event on event_log (event_id, audience);
create index event_log_by_time on event_log (logged_at, position);

-- Moves what may be moved, in order; answers how many. One at a time: positions are committed in their order.
--
-- A row whose transaction is below the oldest one under way cannot be preceded any more. One that is visible and not below the
-- next transaction was written by another server, of which this database is a dump.
create function svc_sequence_events(p_limit integer)
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
      from event_outbox as o, pg_current_snapshot() as s
      where o.xid < pg_snapshot_xmin(s) or o.xid >= pg_snapshot_xmax(s)
      order by o.xid, o.seq
      limit p_limit
    ),
    taken as (
      delete from event_outbox where seq in (select seq from ready) returning *
    )
  insert into event_log (event_id, audience, type, order_key, occurred_at, percent, data)
  select event_id, audience, type, order_key, occurred_at, percent, data
  from taken
  order by xid, seq;
  get diagnostics v_moved = row_count;
  return v_moved;
end;
$$;

-- Writes an event for those who may hear of it and want to: the Principal, the relying party, and the org of each. To be called
-- in the transaction of the fact. Null for whoever it does not concern. Where nobody wants it, nothing is written.
create function svc_emit_event(
  p_type text,
  p_order_key text,
  p_principal text,
  p_relying_party text,
  p_occurred_at timestamptz,
  p_data json,
  p_percent integer default null
)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, percent, data)
  select e.event_id, w.audience, p_type, p_order_key, p_occurred_at, p_percent, p_data::text
  from
    (select 'evt_' || replace(gen_random_uuid()::text, '-', '') as event_id offset 0) as e,
    (
      select distinct w.audience
      from event_wants as w
      where
        w.type = p_type
        and (p_percent is null or w.budget_low_percent = p_percent)
        and w.audience in (
          'principal ' || p_principal,
          'rp ' || p_relying_party,
          'org ' || (select org_id from principals where did = p_principal),
          'org ' || (select org_id from relying_parties where did = p_relying_party)
        )
    ) as w;
end;
$$;

-- The same for audiences by name. One event, however many they are.
create function svc_emit_to(
  p_audiences text[],
  p_type text,
  p_order_key text,
  p_occurred_at timestamptz,
  p_data json
)
returns text
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_event_id text := 'evt_' || replace(gen_random_uuid()::text, '-', '');
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select v_event_id, audience, p_type, p_order_key, p_occurred_at, p_data::text
  from unnest(p_audiences) as audience;
  return v_event_id;
end;
$$;

-- Whoever has a name after its release or transfer is somebody else: nothing of what was told under it is left.
create function svc_forget_audience(p_audience text)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  delete from event_subscriptions where audience = p_audience;
  delete from event_outbox where audience = p_audience;
  delete from event_log where audience = p_audience;
end;
$$;
create function svc_forget_released()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform svc_forget_audience(tg_argv[0] || ' ' || old.did);
  return null;
end;
$$;
create trigger forget_released
after delete on principals
for each row
execute function svc_forget_released('principal');
create trigger forget_released
after delete on relying_parties
for each row
execute function svc_forget_released('rp');
