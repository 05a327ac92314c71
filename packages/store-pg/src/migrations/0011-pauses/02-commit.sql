-- As before, and by what is paused; nor is a small table read whole to be kept at hand (0009-judge-by-look-up).
-- Gives an outcome to each decision that does not hold by what is stored now. Under the locks, in a statement after them.
create or replace function svc_judge(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_sealed_before text;
  v_is_paused boolean;
begin
  select sealed_before, is_paused into strict v_sealed_before, v_is_paused from ledger_seal;
  return (
    select
      array_agg(
        case
          when p_outcomes[d.ordinal] is not null then p_outcomes[d.ordinal]
          when d.spend_grant_id is distinct from (
            case d.decision
              when 'ALLOW' then d.grant_id
            end
          )
          or (d.decision = 'ALLOW' and (d.grant_id is null or d.used_grant_id is distinct from d.grant_id))
          or (d.decision != 'ALLOW' and d.binds_grant_hash is not null) then 'REFUSED'
          when to_timestamp(d.evaluated_at_ms / 1000.0) not between v_now - interval '2 seconds' and v_now
          or d.receipt_id < v_sealed_before then 'CLOCK'
          when k.key_hash is null
          or k.revoked_at is not null then 'KEY_REVOKED'
          when c.day is not null
          or r.version is distinct from d.relying_party_version
          or (d.used_principal is not null and p.version is distinct from d.used_principal_version)
          or (d.org_id is not null and coalesce(e.version, 0) is distinct from d.entitlement_version)
          -- The lock that was taken must be the lock of this Grant's Principal.
          or (
            d.used_grant_id is not null
            and (
              g.revocation_recorded_at is not null
              or g.principal is null
              or g.principal is distinct from d.used_principal
            )
          )
          -- The versions say so too, to whoever knows of pauses. A node that does not, or is wrong, never allows.
          or (
            d.decision = 'ALLOW'
            and (v_is_paused or r.is_paused or (p.has_pauses and svc_grant_is_paused(d.used_grant_id)))
          ) then 'STALE'
          when d.is_enforced
          and (
            e.production is distinct from 'allowed'
            or e.production_until <= to_timestamp(d.evaluated_at_ms / 1000.0)
          ) then 'PLAN_REQUIRED'
        end
        order by d.ordinal
      )
    from
      unnest(p_decisions) as d
      left join closed_days as c on c.day = date '1970-01-01' + svc_day_number(d.evaluated_at_ms)
      left join relying_parties as r on r.did = d.relying_party
      left join api_keys as k on k.key_hash = decode(d.key_hash, 'hex')
      left join principals as p on p.did = d.used_principal
      left join entitlements as e on e.org_id = d.org_id
      left join grants as g on g.id = d.used_grant_id
  );
end;
$$;

-- Sessions that have a day's lock as commits have it (18-commit.sql).
create function svc_commits_under_way()
returns table (virtualtransaction text)
language sql
volatile
set search_path = public, pg_temp
as $$
  select distinct l.virtualtransaction
  from pg_locks as l
  where
    l.locktype = 'advisory'
    and l.classid = 2::oid
    and l.objsubid = 2
    and l.mode = 'ShareLock'
    and l.granted
    and l.database = (select oid from pg_database where datname = current_database());
$$;

-- The second phase where no one Principal's lock fences it: waits until each commit that is under way now has ended, and answers
-- the instant then, clamped as that of a barrier is. A commit has the lock of its day, shared, before it judges and until it has
-- ended; one that takes it later sees what was stored before this call. It is not waited for in line, which would hold up every
-- commit of everybody: who has the lock is looked up until none of those is left.
create function svc_await_commits(p_node_ms bigint)
returns bigint
language plpgsql
volatile
set enable_seqscan = off
set search_path = public, pg_temp
as $$
declare
  v_deadline timestamptz := clock_timestamp() + interval '2 seconds';
  v_waiting text[];
  v_now timestamptz;
begin
  select array_agg(virtualtransaction) into v_waiting from svc_commits_under_way();
  while v_waiting is not null loop
    if clock_timestamp() >= v_deadline then
      raise exception 'commits were under way for 2 seconds' using errcode = 'lock_not_available';
    end if;
    perform pg_sleep(0.002);
    select array_agg(virtualtransaction)
    into v_waiting
    from svc_commits_under_way()
    where virtualtransaction = any (v_waiting);
  end loop;
  v_now := greatest(svc_instant(p_node_ms - 5000), least(svc_instant(p_node_ms + 5000), svc_now()));
  return svc_ms(
    greatest(
      v_now,
      (
        select max(evaluated_at)
        from receipts
        where receipt_id >= svc_lowest_receipt_id(v_now) and decision = 'ALLOW'
      )
    )
  );
end;
$$;
