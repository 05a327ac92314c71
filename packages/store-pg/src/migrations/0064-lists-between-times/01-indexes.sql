-- runs-from: 0005-roles
-- In the order in which those who write take them.
do $$
begin
  lock table pauses, audit_events in share mode;
end;
$$;

-- Whether the time in the id of an audit event is within an hour of when it occurred. A list between two times looks only at the ids of these times, and
-- apart from that at the few events of which this is false: of a database whose clock was wrong. Inlined, since each event that is written is asked: it calls
-- nothing that depends on search_path.
create or replace function svc_is_dated_by_id(p_event_id text, p_occurred_at timestamptz)
returns boolean
language sql
immutable
parallel safe
as $$
  select
    abs(
      extract(
        epoch from p_occurred_at - to_timestamp(
          (
            ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 5, 1)) - 1)::bigint << 45) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 6, 1)) - 1)::bigint << 40
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 7, 1)) - 1)::bigint << 35) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 8, 1)) - 1)::bigint << 30
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 9, 1)) - 1)::bigint << 25) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 10, 1)) - 1)::bigint << 20
            ) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 11, 1)) - 1)::bigint << 15
            ) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 12, 1)) - 1)::bigint << 10
            ) + ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 13, 1)) - 1)::bigint << 5) + (
              (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(p_event_id, 14, 1)) - 1)::bigint << 0
            )
          ) / 1000.0::float8
        )
      )
    ) <= 3600;
$$;
create index if not exists audit_events_dated_otherwise on audit_events (event_id desc)
where not svc_is_dated_by_id(event_id, occurred_at);

-- All pauses of an owner were sorted for each page of a list.
-- `pauses_in_force` stays, although the first of these serves its look-ups: dropped here, decisions would wait until the index above is built.
create index pauses_of_owner_in_order on pauses (owner, scope, seq desc) where is_paused;
create index pauses_in_order on pauses (scope, seq desc) where is_paused;
