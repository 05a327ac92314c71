-- runs-from: 0005-roles
-- What is recorded of a packed day has to be of that day as it was published. Who signed it cannot be told here: readers verify that, and
-- whoever removes a day compares what is removed.

-- What is wrong with the manifest of a day (docs/ledger-format.md); null: nothing that can be told here.
create function svc_find_manifest_problem(p_day date, p_manifest text, p_hash text)
returns text
language plpgsql
stable
set search_path = public, pg_temp
as $$
declare
  v_part text := translate(split_part(p_manifest, '.', 2), '-_', '+/');
  v_day jsonb;
  v_published checkpoints;
begin
  if p_hash is distinct from 'sha256:' || encode(sha256(convert_to(p_manifest, 'UTF8')), 'hex') then
    return 'its hash is another';
  end if;
  begin
    v_day := convert_from(decode(rpad(v_part, (length(v_part) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb;
  exception when others then
    return 'it is no compact JWS of JSON';
  end;
  select * into v_published from checkpoints where day = p_day;
  return case
    when v_day ->> 'day' is distinct from p_day::text then 'it is of another day'
    when v_day ->> 'checkpoint_hash' is distinct from v_published.hash then 'it is of another checkpoint'
    when v_day ->> 'root' is distinct from v_published.root
    or v_day ->> 'content_root' is distinct from v_published.content_root
    or v_day -> 'tree_size' is distinct from to_jsonb(
      v_published.tree_size
    ) then 'it has other roots than were published'
    when (
      select coalesce(sum((object ->> 'rows')::numeric), 0)
      from jsonb_path_query(v_day, '$.tables.receipts[*]') as objects (object)
    ) != v_published.tree_size then 'its objects have more or fewer Receipts'
    when exists (
      select
      from jsonb_path_query(v_day, '$.tables.*[*]') as objects (object)
      where starts_with(object ->> 'name', p_day::text || '/') is not true
    ) then 'it names objects of another day'
  end;
end;
$$;

create function svc_refuse_other_manifests()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_problem text;
begin
  if
    tg_op = 'INSERT'
    or new.manifest is distinct from old.manifest
    or new.manifest_hash is distinct from old.manifest_hash
  then
    v_problem := svc_find_manifest_problem(new.day, new.manifest, new.manifest_hash);
  end if;
  if new.manifest is null or v_problem is null then
    return new;
  end if;
  raise exception '% on % is refused: the manifest of % is not to be recorded: %',
    tg_op,
    tg_table_name,
    new.day,
    v_problem
    using errcode = 'insufficient_privilege';
end;
$$;
create trigger refuse_other_manifests
before insert or update on cold_days
for each row
execute function svc_refuse_other_manifests();

-- As before, but an autovacuum of the partition gives way: it does so once it has been waited for for a second (`deadlock_timeout`), which the lock
-- below never was. Readers and commits pass the lock that is waited for so long.
create or replace function svc_detach_day(p_day date)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
set lock_timeout = '1500ms'
as $$
declare
  v_state text;
  v_kept_before text;
  v_name text := 'receipts_' || to_char(p_day, 'YYYYMMDD');
begin
  select state, kept_before into v_state, v_kept_before from cold_days where day = p_day for update;
  if
    v_state is distinct from 'recorded'
    or v_kept_before is null
    or v_kept_before < svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC')
  then
    return false;
  end if;
  if to_regclass(v_name) is not null then
    execute format('lock table only %I in share update exclusive mode', v_name);
  end if;
  perform set_config('lock_timeout', '100ms', true);
  -- A repair of the clock may have them begin again below the day: it waits, or this does.
  perform from ledger_count for share;
  perform from evidence_naming for share;
  if not svc_is_day_read(p_day) then
    return false;
  end if;
  if to_regclass(v_name) is not null then
    execute format('alter table receipts detach partition %I', v_name);
    execute format('alter table %I rename to %I', v_name, 'detached_' || v_name);
    execute
      format(
        'create trigger refuse_change before insert or update or delete on %I
        for each row execute function svc_refuse_change()',
        'detached_' || v_name
      );
  end if;
  update cold_days
  set
    state = 'cold',
    detached_at = svc_now()
  where day = p_day;
  return true;
end;
$$;
