-- The second phase of a revocation (protocol §9).

-- The barrier: once the exclusive lock is had, every commit that did not see the flag is over, and every later
-- one sees it. The stamp is read after the lock, never before.
create function svc_stamp_revoked(p_principal text, p_grant_ids text[], p_node_ms bigint)
returns table (grant_id text, revoked_at timestamptz)
language plpgsql
volatile
set lock_timeout = '2s'
as $$
declare
  v_stamp timestamptz;
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  v_stamp := svc_barrier_instant(p_principal, p_node_ms);
  update grants as g
  set
    revoked_at = v_stamp,
    revocation_recorded_at = coalesce(g.revocation_recorded_at, v_stamp)
  where g.id = any (p_grant_ids) and g.principal = p_principal and g.revoked_at is null;
  return query select g.id, g.revoked_at
    from grants as g
    where g.id = any (p_grant_ids) and g.principal = p_principal;
end;
$$;
