-- runs-from: 0005-roles
-- A repair of the clock left cold days as they were: one that was proven ahead was due for its next proof only a month after that time, and one that left the
-- ledger ahead was kept beside it until then.

-- As in 0052-ahead-and-stopped. A packed day is also proven, tried again and kept beside the ledger for a time from an instant on, objects that are named
-- no more are kept for one, and a replica is given a new mark.
create or replace function svc_rewind_terms(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
begin
  update idempotency_keys set created_at = p_now where created_at > p_now;
  update conformance_runs
  set
    created_at = svc_not_after(created_at, p_now),
    leased_until = svc_not_after(leased_until, p_now + interval '15 seconds'),
    finished_at = svc_not_after(finished_at, p_now)
  where greatest(created_at, leased_until - interval '15 seconds', finished_at) > p_now;
  update content_checks set checked_at = p_now where checked_at > p_now;
  update entitlements set as_of = p_now where as_of > p_now;
  update replica_marks set marked_at = p_now where marked_at > p_now;
  update cold_days
  set
    detached_at = svc_not_after(detached_at, p_now),
    proven_at = svc_not_after(proven_at, p_now),
    again_at = svc_not_after(again_at, p_now)
  where greatest(detached_at, proven_at, again_at) > p_now;
  if exists (select from cold_manifests where replaced_at > p_now) then
    alter table cold_manifests disable trigger refuse_all_but_purge;
    update cold_manifests set replaced_at = p_now where replaced_at > p_now;
    alter table cold_manifests enable trigger refuse_all_but_purge;
  end if;
end;
$$;
