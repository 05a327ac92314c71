-- runs-from: 0005-roles
-- The exclusive lock of a Principal keeps decisions about its Grants from being stored, and delays the batches that they are in. So the rows are waited for
-- before it: a kill switch that stamps thousands of Grants holds them for most of a second. The lock is waited for as long as the rows have left of the
-- time-out, and for 300 ms at least.
create or replace function svc_stamp_revoked(p_principal text, p_grant_ids text[], p_node_ms bigint)
returns table (grant_id text, revoked_at timestamptz)
language plpgsql
volatile
set lock_timeout = '2s'
set search_path = public, pg_temp
as $$
declare
  v_deadline timestamptz := clock_timestamp() + current_setting('lock_timeout')::interval;
  v_stamp timestamptz;
begin
  perform
  from grants as g
  where g.id = any (p_grant_ids) and g.principal = p_principal
  order by g.id
  for no key update;
  perform
    set_config(
      'lock_timeout',
      greatest(300, floor(extract(epoch from v_deadline - clock_timestamp()) * 1000)) || 'ms',
      true
    );
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

-- Only Grants in force are locked, so that recording a revocation does not wait for one that is being stamped. A recorded revocation stays recorded.
create or replace function svc_lock_revocations(p_principal text, p_grant_ids text[])
returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform
  from grants as g
  where g.id = any (p_grant_ids) and g.principal = p_principal and g.revocation_recorded_at is null
  order by g.id
  for update;
  perform
  from status_lists as l
  where
    l.url in (
      select g.status_list_url from grants as g where g.id = any (p_grant_ids) and g.principal = p_principal
    )
  order by l.url
  for update;
end;
$$;
