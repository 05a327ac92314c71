-- runs-from: 0005-roles
-- A day that could not be packed, or not be proven, is left alone for a while, and the others go on.
alter table cold_days
  -- Not before this is it tried again by itself; null: whenever it is due.
  add column again_at timestamptz;

-- As before, but one that was broken is tried again when its row says.
create or replace function svc_days_to_pack(p_hot_days integer, p_node_ms bigint, p_limit integer)
returns setof date
language sql
stable
set search_path = public, pg_temp
as $$
  select p.day
  from
    checkpoints as p
    join content_checks as k using (day)
    left join cold_days as d using (day)
  where
    p.day + 1 + p_hot_days <= (least(svc_now(), svc_instant(p_node_ms)) at time zone 'UTC')::date
    and k.is_intact
    and k.checked_at > svc_now() - interval '36 hours'
    and (
      d.day is null
      or (d.state = 'broken' and coalesce(d.again_at, d.recorded_at + interval '24 hours') < svc_now())
    )
    and not exists (select from restores as r where p.day = any (r.reinstated_days))
    and svc_is_day_read(p.day)
  order by p.day
  limit p_limit;
$$;

-- As before, and when a day is tried again.
create or replace function svc_grant_cold_days(p_role name)
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
      'grant insert (day, state, manifest, manifest_hash, problem, again_at),
        update (state, manifest, manifest_hash, problem, recorded_at, proven_at, again_at) on cold_days to %I',
      p_role
    );
end;
$$;

-- Roles that were given the service before.
do $$
declare
  v_role name;
begin
  for v_role in select distinct pg_get_userbyid(a.grantee)
  from
    pg_attribute as t,
    aclexplode(t.attacl) as a
  where
    t.attrelid = 'cold_days'::regclass
    and a.privilege_type in ('INSERT', 'UPDATE')
    and a.grantee not in (0, (select relowner from pg_class where oid = 'cold_days'::regclass)) loop
    perform svc_grant_cold_days(v_role);
  end loop;
end;
$$;
