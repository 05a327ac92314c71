-- As svc_move_events in 0042-one-snapshot, whose caller has the lock.
create function svc_log_events(p_limit integer)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
declare
  v_moved integer;
begin
  with
    -- Of this server, then of the one that this database is a dump of.
    ready as (
      select seq
      from
        (
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid < pg_snapshot_xmin(pg_current_snapshot())
            order by o.xid, o.seq
            limit p_limit
          )
          union all
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid >= pg_snapshot_xmax(pg_current_snapshot())
            order by o.xid, o.seq
            limit p_limit
          )
        ) as r
      order by r.xid, r.seq
      limit p_limit
    ),
    taken as (delete from event_outbox where seq in (select seq from ready) returning *),
    logged as (
      insert into event_log (event_id, audience, type, order_key, occurred_at, percent, data)
      select
        event_id,
        case
          when audience = 'verifiers' then 'verifiers ' || (data::json ->> 'principal')
          else audience
        end,
        type,
        order_key,
        occurred_at,
        percent,
        data
      from taken
      order by xid, seq
      on conflict do nothing
    )
  select count(*)
  into v_moved
  from taken;
  return v_moved;
end;
$$;

-- Moves what may be moved into the log, and notes the next who have to read what is for everyone; answers how many rows and subscriptions these were. One at a
-- time: positions are committed in their order.
create or replace function svc_move_events(p_limit integer)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
  return svc_log_events(p_limit) + svc_note_everyone(1000);
end;
$$;
