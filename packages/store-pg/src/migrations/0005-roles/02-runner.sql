-- What a conformance runner needs, and no more (docs/operations.md): the queue of runs. It asks hosts that customers name, so
-- whoever takes it over must find no key, no Grant and no decision behind its connection. Run by the owner after each migration.
create function svc_grant_runner(p_role name)
returns void
language plpgsql
volatile
as $$
declare
  v_table regclass;
begin
  execute format('grant usage on schema public to %I', p_role);
  for v_table in select c.oid::regclass
  from pg_class as c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') loop
    execute format('revoke all on %s from %I', v_table, p_role);
  end loop;
  execute format('grant select on migrations, conformance_runs to %I', p_role);
  execute
    format(
      'grant update (status, finished_at, requests, vectors_sha256, conformance_version, error, report, lease, leased_until)
      on conformance_runs to %I',
      p_role
    );
end;
$$;
