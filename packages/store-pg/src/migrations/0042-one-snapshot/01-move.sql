-- runs-from: 0005-roles
-- Moves what may be moved into the log, in order; answers how many. What may be moved is told by the snapshot of the statement that moves it: by one that
-- was taken before, whatever was made since would be taken for what a dump brought of another server, and be moved past older transactions.
create or replace function svc_move_events(p_limit integer)
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
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
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
