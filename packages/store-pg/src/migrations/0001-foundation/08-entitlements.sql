-- What each org may verify in production (interface §Entitlement): pushed by the console, asked by every commit.
--
-- A production check is a stored decision of an org's relying party about a Grant that does not name the sandbox
-- Principal (`receipts.production_check`). `checks_since_cap` is how many of them are dated at or after `cap_since`:
-- the commit of decisions keeps it while there is a cap, and a push with another `cap_since` counts the ledger. Each
-- does so under the org's advisory lock (8), so no check is missed or counted twice.
--
-- `version` counts the changes that can alter an answer of the gate. A check counted is not one of them.

create table entitlements (
  org_id text collate "C" primary key references orgs,
  production text not null check (production in ('allowed', 'blocked')),
  production_until timestamptz,
  check_cap bigint check (check_cap between 0 and 1000000000),
  cap_since timestamptz,
  reason text not null check (reason in ('trial', 'paid', 'past_due_grace', 'canceled', 'comp', 'none')),
  as_of timestamptz not null,
  updated_at timestamptz not null default svc_now(),
  version bigint not null default 1,
  checks_since_cap bigint,
  check (check_cap is null or cap_since is not null),
  check ((check_cap is null) = (checks_since_cap is null))
)
with (fillfactor = 50);

-- The production checks of an org whose receipt ids lie from p_first (inclusive) to p_end (exclusive). Planned for its
-- bounds each time: a plan for any bounds locks the partitions of all days.
create function svc_count_stored_checks(p_org_id text, p_first text, p_end text)
returns bigint
language plpgsql
stable
set plan_cache_mode = force_custom_plan
as $$
begin
  return (
    select count(*)
    from
      relying_parties as rp
      join receipts as r on r.relying_party = rp.did
    where rp.org_id = p_org_id and r.production_check and r.receipt_id >= p_first and r.receipt_id < p_end
  );
end;
$$;

-- The production checks of an org from an instant up to the ledger's seal, and the seal: whole days that are counted
-- from the sums, the rest from the receipts, all in one snapshot.
create function svc_count_sealed_checks(
  p_org_id text,
  p_since timestamptz,
  out checks bigint,
  out sealed_before text
)
language sql
stable
as $$
  select
    svc_count_stored_checks(p_org_id, b.since, least(b.first_day, s.sealed_before)) + svc_count_stored_checks(
      p_org_id,
      greatest(b.first_day, c.counted_before),
      s.sealed_before
    ) + (
      select coalesce(sum(u.production_checks), 0)::bigint
      from
        relying_parties as rp
        join usage_by_key as u on u.relying_party = rp.did
      where rp.org_id = p_org_id and u.day >= d.first_day
    ),
    s.sealed_before
  from
    ledger_seal as s,
    ledger_count as c,
    lateral (select (p_since at time zone 'UTC' - interval '1 microsecond')::date + 1 as first_day) as d,
    lateral (
      select
        svc_lowest_receipt_id(p_since) as since,
        svc_lowest_receipt_id(d.first_day::timestamp at time zone 'UTC') as first_day
    ) as b;
$$;

-- Stores a push unless a newer one is stored; answers whether it did. Once that is committed, no decision that went
-- by the row before is stored any more. Planned for its bounds each time, as the ledger's days are partitions.
create function svc_put_entitlement(
  p_org_id text,
  p_production text,
  p_production_until timestamptz,
  p_check_cap bigint,
  p_cap_since timestamptz,
  p_reason text,
  p_as_of timestamptz
)
returns boolean
language plpgsql
volatile
set lock_timeout = '1s'
set plan_cache_mode = force_custom_plan
as $$
declare
  v_stored entitlements;
  v_begins_cap boolean;
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
  if v_begins_cap then
    select checks, greatest(sealed_before, v_counted_before) into v_checks, v_counted_before
    from svc_count_sealed_checks(p_org_id, v_since);
  end if;

  perform pg_advisory_xact_lock(8, hashtext(p_org_id));
  select * into v_stored from entitlements where org_id = p_org_id;
  if v_stored.as_of > p_as_of then
    return false;
  end if;
  v_begins_cap := p_check_cap is not null and (v_stored.check_cap is null or v_stored.cap_since <> p_cap_since);
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
