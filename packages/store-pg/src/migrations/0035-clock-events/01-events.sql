-- runs-from: 0005-roles
-- A repair of the clock left what it had dated of events: endpoints were not asked, and deliveries not tried, until the time that it had shown had
-- come.

-- Null stays null, which least() would not leave.
create function svc_not_after(p_at timestamptz, p_now timestamptz)
returns timestamptz
language sql
immutable
set search_path = public, pg_temp
as $$
  select
    case
      when p_at > p_now then p_now
      else p_at
    end;
$$;

-- What no clock that is right can have written is as if it was written now. What was to wait waits for as long again.
create function svc_rewind_events(p_now timestamptz)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  update event_subscriptions
  set
    not_before = svc_not_after(not_before, p_now),
    failing_since = svc_not_after(failing_since, p_now),
    failing_day_at = svc_not_after(failing_day_at, p_now),
    disabled_at = svc_not_after(disabled_at, p_now),
    pings_from = svc_not_after(pings_from, p_now),
    replays_from = svc_not_after(replays_from, p_now)
  where greatest(not_before, failing_since, failing_day_at, disabled_at, pings_from, replays_from) > p_now;
  update event_deliveries
  set
    next_attempt_at = case
      when attempts = 0
      or last_attempt_at is null then p_now
      when last_attempt_at > p_now then p_now + greatest(next_attempt_at - last_attempt_at, interval '0')
      else next_attempt_at
    end,
    taken_until = p_now + (taken_until - taken_at),
    taken_at = svc_not_after(taken_at, p_now),
    last_attempt_at = svc_not_after(last_attempt_at, p_now)
  where state = 'waiting' and greatest(next_attempt_at, taken_at, last_attempt_at) > p_now;
  update event_log set logged_at = p_now where logged_at > p_now;
  update event_streams set verified_at = p_now where verified_at > p_now;
  -- A secret that ends has done so for 24 hours after the rotation at the most.
  update event_secrets
  set
    created_at = svc_not_after(created_at, p_now),
    ends_at = svc_not_after(ends_at, p_now + interval '24 hours')
  where greatest(created_at, ends_at - interval '24 hours') > p_now;
$$;

-- As in 0006-clock-repair, and events go on.
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
  perform svc_rewind_events(repaired_at);
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
