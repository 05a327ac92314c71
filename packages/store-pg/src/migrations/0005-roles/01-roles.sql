-- What the running service needs, and no more, where it is another role than the one that owns the schema
-- (docs/operations.md): it reads and writes rows, and can neither drop a trigger nor alter, empty or make a table. Run by the
-- owner after each migration. What a `refuse_change` trigger refuses is not granted either.
create function svc_grant_service(p_role name)
returns void
language plpgsql
volatile
as $$
declare
  v_table record;
begin
  execute format('grant usage on schema public to %I', p_role);
  for v_table in select c.oid::regclass as name, c.relname, coalesce(bit_or(t.tgtype::integer), 0) as refused
  from
    pg_class as c
    left join pg_trigger as t on t.tgrelid = c.oid and t.tgname = 'refuse_change'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
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
end;
$$;
