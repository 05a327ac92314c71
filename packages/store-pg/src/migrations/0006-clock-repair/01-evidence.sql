-- runs-from: 0005-roles
-- A repair of the clock moved the seal back and left how far Receipts had been read for the evidence that they name. Those that
-- were stored next lay below that place, were never read, and what they name was collected as loose.
update evidence_naming
set named_before = least(named_before, (select sealed_before from ledger_seal));

-- Receipts are read again from the seal on, and lists that are served are kept again: once a minute goes by a time that has been.
create function svc_rewind_evidence(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update evidence_naming
  set named_before = least(named_before, (select sealed_before from ledger_seal));
  update loose_evidence set unused_since = p_now where unused_since > p_now;
  update served_lists set kept_at = p_now where kept_at > p_now;
$$;

create or replace function svc_repair_clock(
  p_operator_ms bigint,
  p_event_id text,
  out repaired_at timestamptz,
  out reopened_days integer,
  out unsealed boolean,
  out mark_moved_ms bigint
)
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_mark timestamptz;
begin
  repaired_at := svc_now();
  if abs(svc_ms(repaired_at) - p_operator_ms) > 5000 then
    raise exception 'the clocks of the database (%) and of the operator (%) differ by more than 5 s',
      repaired_at,
      svc_instant(p_operator_ms)
      using errcode = 'invalid_parameter_value';
  end if;
  select marked_at into strict v_mark from clock_mark for update;
  reopened_days := svc_reopen_days((repaired_at at time zone 'UTC')::date);
  unsealed := svc_unseal_ledger(repaired_at);
  perform svc_rewind_evidence(repaired_at);
  mark_moved_ms := svc_ms(repaired_at) - svc_ms(coalesce(v_mark, repaired_at));
  update clock_mark
  set
    marked_at = repaired_at,
    resets = resets + 1;
  insert into audit_events (event_id, occurred_at, actor_kind, action, details)
  values
    (
      p_event_id,
      repaired_at,
      'admin',
      'clock.repair',
      jsonb_build_object('reopened_days', reopened_days, 'unsealed', unsealed, 'mark_moved_ms', mark_moved_ms)
    );
end;
$$;
