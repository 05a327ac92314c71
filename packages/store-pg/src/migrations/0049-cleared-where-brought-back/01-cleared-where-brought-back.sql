-- runs-from: 0005-roles
-- A packed day that was brought back kept the action fields in its objects for good: it is cleared as others are, and what was replaced is deleted.

create or replace function svc_days_to_clear(p_node_ms bigint, p_limit integer)
returns setof date
language sql
volatile
set search_path = public, pg_temp
as $$
  select d.day
  from
    cold_days as d
    join checkpoints as p using (day)
  where
    d.state in ('recorded', 'cold', 'unpacked')
    and d.cleared_at is null
    and p.tree_size > 0
    and svc_is_day_to_clear(d.day, p_node_ms)
  order by d.day
  limit p_limit;
$$;

create or replace function svc_clear_table_of_day(p_day date, p_limit integer, p_node_ms bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
set lock_timeout = '2s'
set plan_cache_mode = force_custom_plan
as $$
declare
  v_state text;
  v_from text;
  v_last text;
  v_passed integer;
  v_end text := svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC');
  v_table regclass;
begin
  select state, coalesce(cleared_before, svc_lowest_receipt_id(p_day::timestamp at time zone 'UTC'))
  into v_state, v_from
  from cold_days
  where day = p_day and state in ('recorded', 'cold', 'unpacked') and cleared_at is null
  for update;
  if v_from is null or v_from >= v_end or not svc_is_day_to_clear(p_day, p_node_ms) then
    return true;
  end if;
  v_table := svc_find_table_of_day(p_day, v_state);
  if v_table is not null then
    execute
      format(
        'select count(*), max(receipt_id) from (
          select receipt_id from %s where receipt_id >= $1 and receipt_id < $2 order by receipt_id limit $3) as r',
        v_table
      )
    into v_passed, v_last
    using v_from, v_end, p_limit;
    if v_passed > 0 then
      if v_state = 'cold' then
        execute format('alter table %s disable trigger refuse_change', v_table);
      end if;
      execute
        format(
          'update %s set action_type = null, amount = null, currency = null, resource = null, method = null
          where receipt_id >= $1 and receipt_id <= $2
            and num_nonnulls(action_type, amount, currency, resource, method) > 0',
          v_table
        )
      using v_from, v_last;
      if v_state = 'cold' then
        execute format('alter table %s enable trigger refuse_change', v_table);
      end if;
    end if;
  end if;
  if coalesce(v_passed, 0) < p_limit then
    v_last := v_end;
  end if;
  update cold_days set cleared_before = v_last where day = p_day;
  return v_last >= v_end;
end;
$$;

create or replace function svc_record_cleared_day(
  p_day date,
  p_manifest text,
  p_manifest_hash text,
  p_node_ms bigint
)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
as $$
declare
  v_former cold_days;
  v_were jsonb;
  v_are jsonb;
begin
  select * into v_former from cold_days where day = p_day for update;
  if
    v_former.state is null
    or v_former.state not in ('recorded', 'cold', 'unpacked')
    or v_former.cleared_at is not null
    or not svc_is_day_to_clear(p_day, p_node_ms)
    or (
      svc_find_table_of_day(p_day, v_former.state) is not null
      and coalesce(v_former.cleared_before, '') < svc_lowest_receipt_id(
        (p_day + 1)::timestamp at time zone 'UTC'
      )
    )
  then
    return false;
  end if;
  if p_manifest_hash is distinct from v_former.manifest_hash then
    v_were := svc_read_manifest(v_former.manifest);
    v_are := svc_read_manifest(p_manifest);
    if
      v_are ->> 'replaces' is distinct from v_former.manifest_hash
      or v_are #> '{tables,attestations}' is distinct from v_were #> '{tables,attestations}'
      or v_are #> '{tables,consumption_events}' is distinct from v_were #> '{tables,consumption_events}'
    then
      raise exception 'the manifest of % is not to be recorded: it is not what is recorded with its action fields cleared',
        p_day
        using errcode = 'insufficient_privilege';
    end if;
    update cold_days
    set
      manifest = p_manifest,
      manifest_hash = p_manifest_hash,
      recorded_at = svc_now(),
      proven_at = svc_now()
    where day = p_day;
  end if;
  update cold_days
  set
    cleared_at = svc_now(),
    problem = null,
    again_at = null
  where day = p_day;
  return true;
end;
$$;

create or replace function svc_refuse_all_but_state()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_is_owner boolean := pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage');
begin
  if tg_op = 'INSERT' then
    if
      v_is_owner
      or (
        new.state in ('recorded', 'broken')
        and num_nonnulls(
          new.detached_at, new.dropped_at, new.kept_before, new.proven_at, new.cleared_at, new.cleared_before
        ) = 0
      )
    then
      return new;
    end if;
  elsif
    new.day = old.day
    and (
      old.state = 'broken'
      or (v_is_owner and old.state = 'unpacked')
      or (
        (new.manifest, new.manifest_hash, new.recorded_at) is not distinct from
        (old.manifest, old.manifest_hash, old.recorded_at)
        and new.state != 'broken'
      )
      or (
        v_is_owner
        and old.state in ('recorded', 'cold')
        and new.state = old.state
        and svc_read_manifest(new.manifest) ->> 'replaces' = old.manifest_hash
      )
    )
    and (
      v_is_owner
      or (
        (new.detached_at, new.dropped_at, new.kept_before, new.cleared_at, new.cleared_before) is not distinct from
        (old.detached_at, old.dropped_at, old.kept_before, old.cleared_at, old.cleared_before)
        and (new.state = old.state or (old.state = 'broken' and new.state = 'recorded'))
      )
    )
  then
    -- It was read from the ledger at some time before: whether that was cleared by then is told by clearing it.
    if old.state = 'unpacked' and new.state = 'recorded' then
      new.cleared_at := null;
      new.cleared_before := null;
    end if;
    return new;
  end if;
  raise exception '% on % is refused: what is recorded of a cold day stays', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;
