-- runs-from: 0005-roles
-- Action fields of packed days are cleared too, once they are seven years old: in new objects, under a manifest that replaces the one before. What was
-- replaced stays recorded, and its objects are deleted after the grace period by whoever has proven those of the new one.
alter table cold_days
-- Since when its objects have no action fields; null: they may have.
add column cleared_at timestamptz,
-- How far its table has been cleared, in the ledger or beside it; null: not begun.
add column cleared_before text collate "C";

create table cold_manifests (
  manifest_hash text primary key,
  day date not null references checkpoints,
  manifest text not null,
  recorded_at timestamptz not null,
  replaced_at timestamptz not null default svc_now(),
  -- When what it alone had named was deleted.
  purged_at timestamptz
);
alter table cold_manifests alter column manifest set storage external;
create index cold_manifests_day on cold_manifests (day);
create index cold_manifests_to_purge on cold_manifests (replaced_at) where purged_at is null;
create trigger refuse_truncate
before truncate on cold_manifests
for each statement
execute function svc_refuse_change();
create trigger refuse_change
before delete on cold_manifests
for each row
execute function svc_refuse_change();

create function svc_refuse_all_but_purge()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_purged cold_manifests := old;
begin
  v_purged.purged_at := new.purged_at;
  if old.purged_at is null and new is not distinct from v_purged then
    return new;
  end if;
  raise exception 'UPDATE on % is refused: what was recorded of a cold day stays', tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;
create trigger refuse_all_but_purge
before update on cold_manifests
for each row
execute function svc_refuse_all_but_purge();

create function svc_keep_former_manifest()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  insert into cold_manifests (manifest_hash, day, manifest, recorded_at)
  values (old.manifest_hash, old.day, old.manifest, old.recorded_at)
  on conflict do nothing;
  return null;
end;
$$;
create trigger keep_former_manifest
after update on cold_days
for each row
when (old.manifest_hash is not null and new.manifest_hash is distinct from old.manifest_hash)
execute function svc_keep_former_manifest();

-- What a manifest says, whoever signed it; null: it is none.
create function svc_read_manifest(p_manifest text)
returns jsonb
language plpgsql
immutable
set search_path = public, pg_temp
as $$
declare
  v_part text := translate(split_part(p_manifest, '.', 2), '-_', '+/');
begin
  return convert_from(decode(rpad(v_part, (length(v_part) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb;
exception when others then
  return null;
end;
$$;

-- Whether all Receipts of a day are so old that their action fields go, by no later time than the caller knows.
create function svc_is_day_to_clear(p_day date, p_node_ms bigint)
returns boolean
language sql
volatile
set search_path = public, pg_temp
as $$
  select
    (p_day + 1)::timestamp at time zone 'UTC' <= least(
      svc_actions_kept_since(),
      svc_instant(p_node_ms) - interval '7 years'
    );
$$;

-- Up to p_limit packed days with Receipts whose action fields are to be cleared in their objects, the oldest first.
create function svc_days_to_clear(p_node_ms bigint, p_limit integer)
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
    d.state in ('recorded', 'cold')
    and d.cleared_at is null
    and p.tree_size > 0
    and svc_is_day_to_clear(d.day, p_node_ms)
  order by d.day
  limit p_limit;
$$;

-- The table of a packed day, in the ledger or kept beside it; null: it has been removed. A temporary one of the caller's is none: what follows is done
-- as the owner, with whatever triggers a table has.
create function svc_find_table_of_day(p_day date, p_state text)
returns regclass
language sql
stable
set search_path = public, pg_temp
as $$
  select
    to_regclass(
      'public.' || case p_state
        when 'cold' then 'detached_'
        else ''
      end || 'receipts_' || to_char(p_day, 'YYYYMMDD')
    );
$$;

-- Clears up to p_limit (2 or more) further Receipts of a packed day in its table. True: there is no more. What was detached takes no other change.
create function svc_clear_table_of_day(p_day date, p_limit integer, p_node_ms bigint)
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
  where day = p_day and state in ('recorded', 'cold') and cleared_at is null
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

-- Records that the objects of a day have no action fields: those of p_manifest, which replaces the one that is recorded, or is that one where there was
-- nothing to clear. False, and nothing changed, where it is not time, or it is recorded already. Who signed it cannot be told here (0025): readers
-- verify that, and nothing of the former one is deleted before.
create function svc_record_cleared_day(p_day date, p_manifest text, p_manifest_hash text, p_node_ms bigint)
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
    or v_former.state not in ('recorded', 'cold')
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

-- Notes that what a replaced manifest alone had named is deleted. False, and nothing changed, before its time.
create function svc_note_purged(p_manifest_hash text, p_grace_days integer, p_node_ms bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
as $$
begin
  update cold_manifests
  set purged_at = svc_now()
  where
    manifest_hash = p_manifest_hash
    and purged_at is null
    and replaced_at < least(svc_now(), svc_instant(p_node_ms)) - make_interval(
      days => greatest(p_grace_days, 1)
    );
  return found;
end;
$$;

revoke execute on function svc_clear_table_of_day, svc_record_cleared_day, svc_note_purged from public;

-- As before, and the manifest of a packed day may be replaced by one that says so, and that it is cleared be said, by the owner alone.
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
    return new;
  end if;
  raise exception '% on % is refused: what is recorded of a cold day stays', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end;
$$;

-- As before, and what clears packed days.
create or replace function svc_grant_cold_days(p_role name)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  execute format('revoke all on cold_days, cold_manifests, cold_verifications from %I', p_role);
  execute format('revoke execute on function svc_drop_detached_day from %I', p_role);
  execute
    format(
      'grant execute on function svc_keep_verifiers, svc_detach_day, svc_clear_table_of_day, svc_record_cleared_day,
        svc_note_purged to %I',
      p_role
    );
  execute format('grant select on cold_days, cold_manifests, cold_verifications to %I', p_role);
  execute
    format(
      'grant insert (day, state, manifest, manifest_hash, problem, again_at),
        update (state, manifest, manifest_hash, problem, recorded_at, proven_at, again_at) on cold_days to %I',
      p_role
    );
end;
$$;

-- Roles that were given the service before.
do $$
declare
  v_role name;
begin
  for v_role in select distinct pg_get_userbyid(a.grantee)
  from
    pg_attribute as t,
    aclexplode(t.attacl) as a
  where
    t.attrelid = 'cold_days'::regclass
    and a.privilege_type in ('INSERT', 'UPDATE')
    and a.grantee not in (0, (select relowner from pg_class where oid = 'cold_days'::regclass)) loop
    perform svc_grant_cold_days(v_role);
  end loop;
end;
$$;

-- As in 0001-foundation, and so past packed days: they are cleared by themselves.
create or replace function svc_clear_old_actions(
  p_limit integer,
  p_node_ms bigint,
  out passed integer,
  out cleared integer
)
language plpgsql
volatile
set plan_cache_mode = force_custom_plan
set search_path = public, pg_temp
as $$
declare
  v_from text;
  v_end text := svc_lowest_receipt_id(
    least(svc_actions_kept_since(), svc_instant(p_node_ms) - interval '7 years')
  );
  v_last text;
begin
  passed := 0;
  cleared := 0;
  select actions_cleared_before into v_from from retention for update skip locked;
  if v_from is null or v_from >= v_end then
    return;
  end if;
  select count(*), max(r.receipt_id) into passed, v_last from (
    select receipt_id from receipts where receipt_id >= v_from and receipt_id < v_end
    order by receipt_id limit p_limit
  ) r;
  if passed > 0 then
    update receipts set action_type = null, amount = null, currency = null, resource = null, method = null
      where receipt_id >= v_from and receipt_id <= v_last
        and num_nonnulls(action_type, amount, currency, resource, method) > 0;
    get diagnostics cleared = row_count;
  end if;
  update retention set actions_cleared_before = case when passed < p_limit then v_end else v_last end;
end
$$;
