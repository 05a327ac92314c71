-- What is asked of old Receipts where no object can be read: who has verified a Grant (svc_has_verified), and when last.
create table cold_verifications (
  grant_id text collate "C" not null,
  principal text collate "C" not null,
  relying_party text collate "C" not null,
  latest_receipt_id text collate "C" not null,
  primary key (grant_id, principal, relying_party)
);
create trigger refuse_truncate
before truncate on cold_verifications
for each statement
execute function svc_refuse_change();
create trigger refuse_change
before delete on cold_verifications
for each row
execute function svc_refuse_change();

-- Reads up to about p_limit further Receipts of a day that is recorded. True: it has read them all. To be done again does no harm.
create function svc_keep_verifiers(p_day date, p_limit integer)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
-- Planned for its bounds each time: a plan for any bounds locks every partition there is.
set plan_cache_mode = force_custom_plan
as $$
declare
  v_from text;
  v_to text;
  v_end text := svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC');
begin
  select coalesce(kept_before, svc_lowest_receipt_id(p_day::timestamp at time zone 'UTC'))
  into v_from
  from cold_days
  where day = p_day and state = 'recorded'
  for update;
  if v_from is null or v_from >= v_end then
    return true;
  end if;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_end
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_end);
  insert into cold_verifications as c (grant_id, principal, relying_party, latest_receipt_id)
  select grant_id, principal, relying_party, max(receipt_id)
  from receipts
  where receipt_id >= v_from and receipt_id < v_to and grant_id is not null and principal is not null
  group by 1, 2, 3
  on conflict (grant_id, principal, relying_party) do update
    set latest_receipt_id = excluded.latest_receipt_id
    where c.latest_receipt_id < excluded.latest_receipt_id;
  update cold_days set kept_before = v_to where day = p_day;
  return v_to >= v_end;
end;
$$;

-- As before, in cold days too.
create or replace function svc_has_verified(p_relying_parties text[], p_principal text, p_grant_id text)
returns boolean
language sql
stable
set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select
    exists (
      select
      from
        unnest(p_relying_parties) as rp (did),
        receipts as r
      where
        r.receipt_id >= (
          select svc_lowest_receipt_id(allocated_at - interval '1 minute') from grants where id = p_grant_id
        )
        and hashtext(r.principal) = hashtext(p_principal)
        and hashtext(r.relying_party) = hashtext(rp.did)
        and hashtext(r.grant_id) = hashtext(p_grant_id)
        and r.principal = p_principal
        and r.relying_party = rp.did
        and r.grant_id = p_grant_id
    )
    or exists (
      select
      from
        cold_verifications as c
      where
        c.grant_id = p_grant_id
        and c.principal = p_principal
        and c.relying_party = any (p_relying_parties)
        and c.latest_receipt_id >= (
          select svc_lowest_receipt_id(allocated_at - interval '1 minute') from grants where id = p_grant_id
        )
    );
$$;

-- As before. Of a cold Receipt whoever inserts the attestation says which Grant it is about.
create or replace function svc_emit_outcome()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_grant_id text;
begin
  if not exists (select from event_wants where type = 'outcome.reported') then
    return null;
  end if;
  select grant_id into v_grant_id from receipts where receipt_id = new.receipt_id;
  if not found then
    v_grant_id := nullif(current_setting('svc.grant_of_cold_receipt', true), '');
  end if;
  perform
    svc_emit_event(
      'outcome.reported',
      v_grant_id,
      new.principal,
      new.relying_party,
      new.recorded_at,
      json_build_object(
        'attestation_id',
        new.attestation_id,
        'receipt_id',
        new.receipt_id,
        'relying_party',
        new.relying_party,
        'principal',
        new.principal,
        'grant_id',
        v_grant_id
      )
    );
  return null;
end;
$$;

-- A day that is recorded leaves the ledger, and after a time the database. Both are done as the owner: the running service may be a
-- role that owns no table (0005-roles).
--
-- State and partition change in one transaction, under the exclusive lock of `receipts` that detaching takes: a statement that
-- names `receipts` has either, and never both or neither. The table gets another name, so that a statement which names the
-- partition fails and is made anew. The lock is waited for as shortly as the sealer's, since commits stand in line behind it.
create function svc_detach_day(p_day date)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_state text;
  v_kept_before text;
  v_name text := 'receipts_' || to_char(p_day, 'YYYYMMDD');
begin
  select state, kept_before into v_state, v_kept_before from cold_days where day = p_day for update;
  if
    v_state is distinct from 'recorded'
    or v_kept_before is null
    or v_kept_before < svc_lowest_receipt_id((p_day + 1)::timestamp at time zone 'UTC')
  then
    return false;
  end if;
  -- A repair of the clock may have them begin again below the day: it waits, or this does.
  perform from ledger_count for share;
  perform from evidence_naming for share;
  if not svc_is_day_read(p_day) then
    return false;
  end if;
  if to_regclass(v_name) is not null then
    execute format('alter table receipts detach partition %I', v_name);
    execute format('alter table %I rename to %I', v_name, 'detached_' || v_name);
    execute
      format(
        'create trigger refuse_change before insert or update or delete on %I
        for each row execute function svc_refuse_change()',
        'detached_' || v_name
      );
  end if;
  update cold_days set state = 'cold', detached_at = svc_now() where day = p_day;
  return true;
end;
$$;

-- Removes what was detached p_grace_days ago, by no later time than the caller knows, who has proven the day from its objects again.
create function svc_drop_detached_day(p_day date, p_grace_days integer, p_node_ms bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = public, pg_temp
set lock_timeout = '2s'
as $$
begin
  perform from cold_days
  where
    day = p_day
    and state = 'cold'
    and dropped_at is null
    and detached_at < least(svc_now(), svc_instant(p_node_ms)) - make_interval(days => greatest(p_grace_days, 1))
  for update;
  if not found then
    return false;
  end if;
  execute format('drop table if exists %I', 'detached_receipts_' || to_char(p_day, 'YYYYMMDD'));
  update cold_days set dropped_at = svc_now() where day = p_day;
  return true;
end;
$$;

revoke execute on function svc_detach_day, svc_drop_detached_day from public;

-- As before, but what was detached is nobody's but the owner's, and this role has days leave.
create or replace function svc_grant_service(p_role name)
returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
  v_table record;
begin
  execute format('grant usage on schema public to %I', p_role);
  execute format('grant execute on function svc_detach_day, svc_drop_detached_day to %I', p_role);
  for v_table in select c.oid::regclass as name, c.relname, coalesce(bit_or(t.tgtype::integer), 0) as refused
  from
    pg_class as c
    left join pg_trigger as t on t.tgrelid = c.oid and t.tgname = 'refuse_change'
  where
    c.relnamespace = 'public'::regnamespace
    and c.relkind in ('r', 'p')
    and not c.relispartition
    and c.relname !~ '^detached_receipts_\d{8}$'
  group by c.oid, c.relname loop
    execute format('revoke all on %s from %I', v_table.name, p_role);
    execute
      format(
        'grant select%s%s%s on %s to %I',
        case
          when v_table.relname != 'migrations' then ', insert'
        end,
        -- Of a trigger's type 16 is update, 8 is delete.
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 16 = 0 then ', update'
        end,
        case
          when v_table.relname != 'migrations'
          and v_table.refused & 8 = 0 then ', delete'
        end,
        v_table.name,
        p_role
      );
  end loop;
end;
$$;

-- As before, but cold days are not counted anew: of those the sums stay, and those of their month are added up from them.
create or replace function svc_unseal_ledger(p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
set lock_timeout = '10s'
as $$
declare
  v_month date := date_trunc('month', p_now at time zone 'UTC')::date;
  v_from date;
  v_counted_before text;
begin
  select counted_before into strict v_counted_before from ledger_count for update;
  update ledger_seal
  set sealed_until = greatest(p_now - interval '3 seconds', svc_quarantined_until())
  where sealed_until > greatest(p_now, svc_quarantined_until());
  if v_counted_before <= (select sealed_before from ledger_seal) then
    return false;
  end if;
  select greatest(v_month, max(day) + 1) into v_from from cold_days where state = 'cold';
  delete from usage_counts where day >= v_from;
  delete from usage_by_key where day >= v_from;
  delete from usage_by_principal where day >= v_from;
  delete from usage_by_day where day >= v_from;
  delete from usage_monthly where month >= v_month;
  delete from usage_monthly_by_principal where month >= v_month;
  insert into usage_monthly (month, relying_party, principal, reason, verifies)
  select date_trunc('month', day)::date, relying_party, principal, reason, sum(verifies)
  from usage_counts
  where day >= v_month
  group by 1, 2, 3, 4;
  insert into usage_monthly_by_principal (month, principal, reason, verifies)
  select date_trunc('month', day)::date, principal, reason, sum(verifies)
  from usage_counts
  where day >= v_month
  group by 1, 2, 3;
  update usage_by_grant
  set days = days - datemultirange(daterange(v_from, null))
  where days && datemultirange(daterange(v_from, null));
  delete from usage_by_grant where isempty(days);
  update ledger_count set counted_before = svc_lowest_receipt_id(v_from::timestamp at time zone 'UTC');
  return true;
end;
$$;

-- As before. p_cold_checks: those that lie in the part of a cold day from p_cap_since on; null where the caller found that day in the
-- database. Where it is wrong about that, by now, nothing is stored and the caller asks anew: the name of the day is gone.
drop function svc_put_entitlement(text, text, timestamptz, bigint, timestamptz, text, timestamptz);
create function svc_put_entitlement(
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
volatile
set search_path = public, pg_temp
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
