-- The registry around Principals: when a hosted domain's proof was last found, Agents as inventory, and the look-ups
-- of the directory and the audit log (interface §Principal, §Agent, §AuditEvent).

alter table principals add column last_proven_at timestamptz;
update principals set last_proven_at = verified_since where kind = 'hosted';
create index principals_due on principals (last_checked_at asc nulls first) where kind = 'hosted';

-- When no decision rested on a compromised key any more; null: no call is known to have got that far.
alter table principal_keys add column compromise_visible_at timestamptz;

-- Revocations that a crash left between their two phases; empty otherwise.
create index grants_unstamped on grants (revocation_recorded_at)
where revocation_recorded_at is not null and revoked_at is null;

create table agents (
  principal text collate "C" not null references principals,
  did text collate "C" not null,
  created_at timestamptz not null default svc_now(),
  disabled_at timestamptz,
  primary key (principal, did)
);

-- The barrier of a revocation alone: the instant is read after the lock, never before.
create function svc_pass_barrier(p_principal text, p_node_ms bigint)
returns bigint
language plpgsql
volatile
set lock_timeout = '2s'
as $$
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  return svc_ms(svc_barrier_instant(p_principal, p_node_ms));
end;
$$;
