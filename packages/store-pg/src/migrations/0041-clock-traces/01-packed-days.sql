-- runs-from: 0005-roles
-- A repair of the clock failed once a day that is not over had been packed: what is recorded of packed days names their checkpoints.

-- Days from p_today on that were packed are hot again, under the locks of these days: nothing of them is recorded any more, and what is kept beside
-- the ledger is back in it. Their rows and the count are held first, as svc_detach_day takes them.
create function svc_heat_days(p_today date)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
declare
  v_day date;
  v_state text;
  v_dropped_at timestamptz;
  v_name text;
  v_has_receipts boolean;
begin
  perform from cold_days where day >= p_today order by day for update;
  if not found then
    return;
  end if;
  perform from ledger_count for update;
  for v_day, v_state, v_dropped_at in
    select day, state, dropped_at from cold_days where day >= p_today order by day
  loop
    continue when v_state != 'cold';
    if v_dropped_at is not null then
      raise exception '% is not over and has been removed from the database: bring it back with svc-admin ledger unpack %, then repair the clock',
        v_day,
        v_day
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('public.detached_' || v_name) is null;
    -- One that was made since for days to come. Nothing is stored into a closed day.
    if to_regclass('public.' || v_name) is not null then
      execute format('select exists (select from %I)', v_name) into v_has_receipts;
      if v_has_receipts then
        raise exception '% has Receipts, although % has left the ledger', v_name, v_day
          using errcode = 'object_not_in_prerequisite_state';
      end if;
      execute format('drop table %I', v_name);
    end if;
    execute format('drop trigger refuse_change on %I', 'detached_' || v_name);
    execute format('alter table %I rename to %I', 'detached_' || v_name, v_name);
    execute
      format(
        'alter table receipts attach partition %I for values from (%L) to (%L)',
        v_name,
        svc_lowest_receipt_id(v_day::timestamp at time zone 'UTC'),
        svc_lowest_receipt_id((v_day + 1)::timestamp at time zone 'UTC')
      );
  end loop;
  alter table cold_manifests disable trigger refuse_change;
  delete from cold_manifests where day >= p_today;
  alter table cold_manifests enable trigger refuse_change;
  alter table cold_days disable trigger refuse_change;
  delete from cold_days where day >= p_today;
  alter table cold_days enable trigger refuse_change;
end;
$$;

-- As in 0001-foundation, and packed days are hot again, before whoever unseals the ledger asks for the last cold one. A deployment that was made ahead
-- begins today.
create or replace function svc_reopen_days(p_today date)
returns integer
language plpgsql
volatile
set search_path = public, pg_temp
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
  perform svc_heat_days(p_today);
  insert into retracted_checkpoints (hash, day, kid, jws)
  select hash, day, kid, jws from checkpoints where day >= p_today;
  get diagnostics v_published = row_count;
  delete from content_checks where day >= p_today;
  foreach v_table in array array['checkpoints', 'merkle_tiles', 'closed_days'] loop
    execute format('alter table %I disable trigger refuse_change', v_table);
    execute format('delete from %I where day >= $1', v_table) using p_today;
    execute format('alter table %I enable trigger refuse_change', v_table);
  end loop;
  if exists (select from deployment where first_day > p_today) then
    alter table deployment disable trigger refuse_change;
    update deployment set first_day = p_today;
    alter table deployment enable trigger refuse_change;
  end if;
  return v_published;
end;
$$;
