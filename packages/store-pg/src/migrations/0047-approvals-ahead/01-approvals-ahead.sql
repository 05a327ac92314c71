-- runs-from: 0005-roles
-- A repair of the clock left requests for approval as they were: what was asked for ahead was open until then, and counted against those who ask.

-- Of requests that are dated ahead those that are open expire, since nobody can tell how long they have waited; what is decided stays so, at a time
-- that has been.
create function svc_rewind_approvals(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
begin
  if not exists (select from approval_requests where greatest(requested_at, decided_at) > p_now) then
    return;
  end if;
  alter table approval_requests disable trigger refuse_second_decision;
  update approval_requests
  set
    state = 'expired',
    requested_at = p_now - interval '1 second',
    expires_at = p_now,
    decided_at = p_now
  where state = 'pending' and requested_at > p_now;
  update approval_requests
  set
    requested_at = svc_not_after(requested_at, p_now),
    expires_at = expires_at - (requested_at - svc_not_after(requested_at, p_now)),
    decided_at = svc_not_after(decided_at, p_now)
  where state != 'pending' and greatest(requested_at, decided_at) > p_now;
  alter table approval_requests enable trigger refuse_second_decision;
end;
$$;

-- As in 0041-clock-traces, and requests for approval are put right.
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
  perform svc_quarantine_spent_proofs(v_mark, repaired_at);
  reopened_days := svc_reopen_days((repaired_at at time zone 'UTC')::date);
  unsealed := svc_unseal_ledger(repaired_at);
  perform svc_rewind_evidence(repaired_at);
  perform svc_rewind_events(repaired_at);
  perform svc_rewind_principals(repaired_at);
  perform svc_rewind_service_keys(repaired_at);
  perform svc_rewind_approvals(repaired_at);
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
