-- runs-from: 0005-roles
-- Without a worker a hosted Principal whose domain was lost stayed verified for whoever did not ask for a decision: in the directory, in metrics, for
-- reading its decisions and for events. The 72 hours of protocol §13 are now counted wherever the state is read.

-- As `effectiveState` in packages/service, which counts on for a record that is remembered. Inlined: lists ask for each row.
create function svc_verification_state(p_principal principals)
returns text
language sql
volatile
as $$
  select
    case
      when p_principal.kind = 'hosted'
      and coalesce(p_principal.last_proven_at, '-infinity') < clock_timestamp(

      ) - interval '72 hours' then 'unverified'
      else p_principal.verification_state
    end;
$$;

create or replace function svc_may_hear_decisions(p_principal principals)
returns boolean
language sql
volatile
set search_path = public, pg_temp
as $$
  select p_principal.kind != 'hosted' or svc_verification_state(p_principal) = 'verified';
$$;
