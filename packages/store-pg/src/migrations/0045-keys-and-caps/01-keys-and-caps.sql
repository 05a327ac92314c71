-- runs-from: 0005-roles
-- A cap that was found to begin only under the lock of its org was counted from the hot days alone. Now such a push is made again.
create or replace function svc_put_entitlement(
  p_org_id text,
  p_production text,
  p_production_until timestamptz,
  p_check_cap bigint,
  p_cap_since timestamptz,
  p_reason text,
  p_as_of timestamptz,
  p_cold_checks bigint default null
)
returns boolean
language plpgsql
set search_path = public, pg_temp
set lock_timeout = '1s'
set plan_cache_mode = 'force_custom_plan'
as $$
declare
  v_stored entitlements;
  v_begins_cap boolean;
  v_is_counted boolean;
  v_since timestamptz := greatest(p_cap_since, to_timestamp(0));
  v_counted_before text := svc_lowest_receipt_id(v_since);
  v_checks bigint := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'entitlements are pushed under READ COMMITTED only' using errcode = 'invalid_transaction_state';
  end if;
  -- What is sealed takes no more receipts. It may be long, so it is counted before the lock, while decisions go on.
  select * into v_stored from entitlements where org_id = p_org_id;
  v_begins_cap := p_check_cap is not null and (v_stored.check_cap is null or v_stored.cap_since <> p_cap_since);
  v_is_counted := v_begins_cap;
  if v_begins_cap then
    select checks, greatest(sealed_before, v_counted_before) into v_checks, v_counted_before
    from svc_count_sealed_checks(p_org_id, v_since);
    -- Looked at afterwards: a day that has left since was counted, and is not counted twice.
    if
      (p_cold_checks is not null) <> exists (
        select from cold_days as c
        where
          c.state = 'cold'
          and c.day = (v_since at time zone 'UTC')::date
          and v_since <> (c.day::timestamp at time zone 'UTC')
      )
    then
      raise exception 'the day of % has moved', v_since using errcode = 'undefined_table';
    end if;
    v_checks := v_checks + coalesce(p_cold_checks, 0);
  end if;

  perform pg_advisory_xact_lock(8, hashtext(p_org_id));
  select * into v_stored from entitlements where org_id = p_org_id;
  if v_stored.as_of > p_as_of then
    return false;
  end if;
  v_begins_cap := p_check_cap is not null and (v_stored.check_cap is null or v_stored.cap_since <> p_cap_since);
  -- Another push came between: what is sealed, or cold, has not been counted for this cap. The push is made again.
  if v_begins_cap and not v_is_counted then
    raise exception 'the entitlement of % has changed meanwhile', p_org_id using errcode = 'undefined_table';
  end if;
  if p_check_cap is null then
    v_checks := null;
  elsif v_begins_cap then
    v_checks := v_checks + svc_count_stored_checks(p_org_id, v_counted_before, 'drc_~');
  else
    v_checks := v_stored.checks_since_cap;
  end if;
  insert into entitlements as stored
    (org_id, production, production_until, check_cap, cap_since, reason, as_of, checks_since_cap)
  values (p_org_id, p_production, p_production_until, p_check_cap, p_cap_since, p_reason, p_as_of, v_checks)
  on conflict (org_id) do update set
    production = excluded.production, production_until = excluded.production_until,
    check_cap = excluded.check_cap, cap_since = excluded.cap_since,
    reason = excluded.reason, as_of = excluded.as_of, updated_at = svc_now(),
    checks_since_cap = excluded.checks_since_cap,
    version = stored.version + (
      (stored.production, stored.production_until, stored.check_cap, stored.cap_since) is distinct from
      (excluded.production, excluded.production_until, excluded.check_cap, excluded.cap_since))::integer;
  return true;
end
$$;

-- A key that was issued while its DID was released or given to another org was a live key of whoever holds the DID next. Issuing holds the
-- owner's row from this version on. Here those are revoked that can be told, and the audit log says which: keys without an owner, and keys that
-- another org than the owner's has issued. `svc-admin fsck` looks for the same.
with
  owners as (
    select 'principal' as role, did, org_id from principals
    union all
    select 'rp', did, org_id from relying_parties
  ),
  revoked as (
    update api_keys as k
    set revoked_at = svc_now()
    where
      revoked_at is null
      and role in ('principal', 'rp')
      and not exists (
        select
        from owners as o
        where
          o.role = k.role
          and o.did = k.subject
          and not exists (
            select
            from audit_events as a
            where
              a.target = k.key_id
              and a.action = 'api_key.create'
              and a.actor_kind = 'org'
              and a.actor_did is distinct from o.org_id
          )
      )
    returning key_id, role, subject
  )
insert into audit_events (event_id, actor_kind, action, target, details)
select
  'aud_' || substr(svc_lowest_receipt_id(svc_now()), 5, 10) || upper(substr(md5(key_id), 1, 16)),
  'system',
  'api_key.revoke',
  key_id,
  jsonb_build_object('subject', subject, 'role', role)
from revoked;
