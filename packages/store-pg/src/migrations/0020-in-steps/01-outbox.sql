-- runs-from: 0005-roles
-- The outbox was read whole for each thousand rows that left it: after a transaction that had been open for hours, no call would have ended within its
-- time, and no event would have been told again.
create index event_outbox_in_order on event_outbox (xid, seq);

create or replace function svc_sequence_events(p_limit integer)
returns integer
language plpgsql
volatile
set enable_seqscan = off
set enable_sort = off
set search_path = public, pg_temp
as $$
declare
  v_snapshot pg_snapshot;
  v_moved integer;
begin
  if not pg_try_advisory_xact_lock(11, 1) then
    return 0;
  end if;
  v_snapshot := pg_current_snapshot();
  with
    -- Of this server, then of the one that this database is a dump of.
    ready as (
      select seq
      from
        (
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid < pg_snapshot_xmin(v_snapshot)
            order by o.xid, o.seq
            limit p_limit
          )
          union all
          (
            select o.xid, o.seq
            from event_outbox as o
            where o.xid >= pg_snapshot_xmax(v_snapshot)
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
