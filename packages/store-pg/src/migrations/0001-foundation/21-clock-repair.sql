-- Repair of the effects of a clock that ran ahead (svc-admin clock repair; protocol §10, §12). Must run as the owner of the
-- tables, since it disables the append-only triggers of published days.

-- Checkpoints of days closed before their end. They are dated in the future, so they never took effect; kept as a record.
create table retracted_checkpoints (
  hash text collate "C" primary key,
  day date not null,
  kid text not null,
  jws text not null,
  retracted_at timestamptz not null default svc_now()
);
create trigger refuse_change
before update or delete on retracted_checkpoints
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on retracted_checkpoints
for each statement
execute function svc_refuse_change();

-- Reopens the days from p_today on, under their exclusive locks; returns how many had been published.
create function svc_reopen_days(p_today date)
returns integer
language plpgsql
volatile
set lock_timeout = '10s'
as $$
declare
  v_day date;
  v_table text;
  v_published integer;
begin
  for v_day in select day from closed_days where day >= p_today order by day loop
    perform pg_advisory_xact_lock(2, v_day - date '1970-01-01');
  end loop;
  insert into retracted_checkpoints (hash, day, kid, jws)
  select hash, day, kid, jws from checkpoints where day >= p_today;
  get diagnostics v_published = row_count;
  delete from content_checks where day >= p_today;
  foreach v_table in array array['checkpoints', 'merkle_tiles', 'closed_days'] loop
    execute format('alter table %I disable trigger refuse_change', v_table);
    execute format('delete from %I where day >= $1', v_table) using p_today;
    execute format('alter table %I enable trigger refuse_change', v_table);
  end loop;
  return v_published;
end;
$$;

-- Moves the seal back to p_now, but not below the quarantine after a restore (fence/lineage.sql). If Receipts above it have been counted, deletes the sums of the current month, which the
-- worker then recounts from the ledger. Returns whether it did.
create function svc_unseal_ledger(p_now timestamptz)
returns boolean
language plpgsql
volatile
set lock_timeout = '10s'
as $$
declare
  v_month date := date_trunc('month', p_now at time zone 'UTC')::date;
  v_counted_before text;
begin
  select counted_before into strict v_counted_before from ledger_count for update;
  update ledger_seal
  set sealed_until = greatest(p_now - interval '3 seconds', svc_quarantined_until())
  where sealed_until > greatest(p_now, svc_quarantined_until());
  if v_counted_before <= (select sealed_before from ledger_seal) then
    return false;
  end if;
  delete from usage_counts where day >= v_month;
  delete from usage_by_key where day >= v_month;
  delete from usage_by_principal where day >= v_month;
  delete from usage_by_day where day >= v_month;
  delete from usage_monthly where month >= v_month;
  delete from usage_monthly_by_principal where month >= v_month;
  update usage_by_grant
  set days = days - datemultirange(daterange(v_month, null))
  where days && datemultirange(daterange(v_month, null));
  delete from usage_by_grant where isempty(days);
  update ledger_count set counted_before = svc_lowest_receipt_id(v_month::timestamp at time zone 'UTC');
  return true;
end;
$$;

-- The operator confirms that the clock is right; p_operator_ms is the time of the operator's machine. Processes accept the
-- time of the mark that this sets.
create function svc_repair_clock(
  p_operator_ms bigint,
  p_event_id text,
  out repaired_at timestamptz,
  out reopened_days integer,
  out unsealed boolean,
  out mark_moved_ms bigint
)
language plpgsql
volatile
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
