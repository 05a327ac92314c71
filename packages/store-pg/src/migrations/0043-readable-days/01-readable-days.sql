-- runs-from: 0005-roles
-- Lists and exports name the table of a day, and PostgreSQL asks for rights on what is named: those on `receipts` are of no use there. So whoever may
-- read `receipts` may read the table of each day, in the ledger or detached. All else goes through `receipts`.
create function svc_share_day(p_table regclass)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_role name;
begin
  for v_role in select distinct pg_get_userbyid(a.grantee)
  from
    pg_class as c,
    aclexplode(c.relacl) as a
  where c.oid = 'receipts'::regclass and a.privilege_type = 'SELECT' and a.grantee not in (0, c.relowner) loop
    execute format('grant select on %s to %I', p_table, v_role);
  end loop;
end;
$$;

create function svc_share_days()
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
  select svc_share_day(oid)
  from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^(detached_)?receipts_\d{8}$';
$$;

revoke execute on function svc_share_day, svc_share_days from public;

-- As before, and days may be read by who may read `receipts`.
create or replace function svc_ensure_receipt_partitions(p_first date, p_last date)
returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  v_day date;
  v_name text;
  v_start timestamptz;
  v_end timestamptz;
  v_created integer := 0;
begin
  if p_last - p_first > 400 then
    raise exception 'partitions for more than 400 days at once';
  end if;
  perform pg_advisory_xact_lock(3, 0);
  for v_day in select d::date from generate_series(p_first, p_last, interval '1 day') as d loop
    v_name := 'receipts_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    v_start := v_day::timestamp at time zone 'UTC';
    v_end := (v_day + 1)::timestamp at time zone 'UTC';
    execute
      format(
        'create table %I (like receipts including all,
         constraint evaluated_within_day check (evaluated_at >= %L and evaluated_at < %L))
       with (toast_tuple_target = 8160)',
        v_name,
        v_start,
        v_end
      );
    execute
      format(
        'create trigger refuse_truncate before truncate on %I
      for each statement execute function svc_refuse_change()',
        v_name
      );
    perform svc_share_day(v_name::regclass);
    execute
      format(
        'alter table receipts attach partition %I for values from (%L) to (%L)',
        v_name,
        svc_lowest_receipt_id(v_start),
        svc_lowest_receipt_id(v_end)
      );
    v_created := v_created + 1;
  end loop;
  return v_created;
end;
$$;

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
  perform svc_share_days();
end;
$$;

select svc_share_days();
