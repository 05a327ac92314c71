-- runs-from: 0005-roles
-- The DID that this database belongs to. The first start writes the first row (service-did.ts); a process that is configured to
-- be another service is refused. A row is added by an operator alone, who gives the service another name.
create table service_dids (
  number integer primary key check (number > 0),
  did text collate "C" not null check (did ~ '^did:web:[^#[:space:]]+$'),
  since timestamptz not null default svc_now()
);
create trigger refuse_change
before update or delete on service_dids
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on service_dids
for each statement
execute function svc_refuse_change();

-- The runner is of one service too. Otherwise as in 0005-roles/02-runner.
create or replace function svc_grant_runner(p_role name)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
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
  execute format('grant select on migrations, service_dids, conformance_runs to %I', p_role);
  execute
    format(
      'grant update (status, finished_at, requests, vectors_sha256, conformance_version, error, report, lease, leased_until)
      on conformance_runs to %I',
      p_role
    );
end;
$$;
