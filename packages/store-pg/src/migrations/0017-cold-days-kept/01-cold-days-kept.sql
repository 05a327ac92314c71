-- runs-from: 0005-roles
-- What the role of the service may do with packed days: have them leave the ledger, which can be undone, and remove none. That a day
-- was proven from its objects is known to whoever read them, and to nothing here: so removing is for the owner of the schema.
-- `unpacked`: the owner has brought the day back; it is read from its partition, and is packed again when the owner says so.
alter table cold_days
  -- When its Receipts were last read from the objects and led to its roots.
  add column proven_at timestamptz,
  drop constraint cold_days_state_check,
  add constraint cold_days_state_check check (state in ('recorded', 'cold', 'broken', 'unpacked')),
  -- A packed day has one where it was not proven when last read.
  drop constraint cold_days_check1,
  add constraint cold_days_problem_check check (problem is not null or state != 'broken');
drop index cold_days_broken;
create index cold_days_problem on cold_days (day) where problem is not null;

-- A manifest that is recorded stays, but for that of a day that was broken, or that the owner has brought back. That a day has left or
-- come back, and when, is said by the owner alone.
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
        and num_nonnulls(new.detached_at, new.dropped_at, new.kept_before, new.proven_at) = 0
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
    )
    and (
      v_is_owner
      or (
        (new.detached_at, new.dropped_at, new.kept_before) is not distinct from
        (old.detached_at, old.dropped_at, old.kept_before)
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
drop trigger refuse_all_but_state on cold_days;
create trigger refuse_all_but_state
before insert or update on cold_days
for each row
execute function svc_refuse_all_but_state();

-- What the service reads and writes of packed days, whatever the role had before.
create function svc_grant_cold_days(p_role name)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  execute format('revoke all on cold_days, cold_verifications from %I', p_role);
  execute format('revoke execute on function svc_drop_detached_day from %I', p_role);
  execute format('grant execute on function svc_keep_verifiers, svc_detach_day to %I', p_role);
  execute format('grant select on cold_days, cold_verifications to %I', p_role);
  execute
    format(
      'grant insert (day, state, manifest, manifest_hash, problem),
        update (state, manifest, manifest_hash, problem, recorded_at, proven_at) on cold_days to %I',
      p_role
    );
end;
$$;

-- How far a day was read is said by what reads it.
alter function svc_keep_verifiers(date, integer) security definer;
revoke execute on function svc_keep_verifiers from public;

-- As before, but for packed days.
create or replace function svc_grant_service(p_role name)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_table record;
begin
  execute format('grant usage on schema public to %I', p_role);
  for v_table in select c.oid::regclass as name, c.relname, coalesce(bit_or(t.tgtype::integer), 0) as refused
  from
    pg_class as c
    left join pg_trigger as t on t.tgrelid = c.oid and t.tgname = 'refuse_change'
  where
    c.relnamespace = 'public'::regnamespace
    and c.relkind in ('r', 'p')
    and not c.relispartition
    and c.relname !~ '^detached_receipts_\d{8}$'
  group by c.oid, c.relname loop
    execute format('revoke all on %s from %I', v_table.name, p_role);
    execute
      format(
        'grant select%s%s%s on %s to %I',
        case
          when v_table.relname != 'migrations' then ', insert'
        end,
        -- Of a trigger's type 16 is update, 8 is delete.
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 16 = 0 then ', update'
        end,
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 8 = 0 then ', delete'
        end,
        v_table.name,
        p_role
      );
  end loop;
  perform svc_grant_cold_days(p_role);
end;
$$;

-- Roles that were given the service before.
do $$
declare
  v_role name;
begin
  for v_role in select distinct pg_get_userbyid(a.grantee)
  from
    pg_class as c,
    aclexplode(c.relacl) as a
  where
    c.oid = 'cold_days'::regclass
    and a.privilege_type in ('INSERT', 'UPDATE')
    and a.grantee not in (0, c.relowner) loop
    perform svc_grant_cold_days(v_role);
  end loop;
end;
$$;

-- As before, but not beyond the first day whose fields are in objects, where nothing clears them: the mark waits there.
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
  select least(v_end, min(svc_lowest_receipt_id(day::timestamp at time zone 'UTC')))
  into v_end
  from cold_days
  where
    state in ('recorded', 'cold')
    and svc_lowest_receipt_id((day + 1)::timestamp at time zone 'UTC') > v_from;
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
