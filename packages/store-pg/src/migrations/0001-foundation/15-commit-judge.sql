-- Gives an outcome to each decision that does not hold by what is stored now. Under the locks, in a statement after them.
create function svc_judge(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_sealed_before text;
begin
  select sealed_before into strict v_sealed_before from ledger_seal;
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

-- Marks as ABOVE_CAP, before anything is claimed, who stands beyond the cap of an org in the order of the batch.
-- svc_settle_caps turns the mark into an outcome.
create function svc_judge_caps(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
begin
  return (
    select
      array_agg(
        case
          when d.is_enforced
          and d.outcome is null
          and d.place > d.room then 'ABOVE_CAP'
          else d.outcome
        end
        order by d.ordinal
      )
    from
      (
        select
          d.ordinal,
          p_outcomes[d.ordinal] as outcome,
          d.is_enforced,
          e.check_cap - e.checks_since_cap as room,
          count(*)
            filter (where p_outcomes[d.ordinal] is null and e.org_id is not null)
            over (
              partition by d.org_id
              order by d.ordinal
            ) as place
        from
          unnest(p_decisions) as d
          left join entitlements as e
            on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
      ) as d
  );
end;
$$;

-- Where one that had a place under the cap was not stored after all, the next in line is STALE and tries again.
create function svc_settle_caps(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
begin
  return (
    with
      freed as (
        select
          e.org_id,
          e.check_cap - e.checks_since_cap - count(*) filter (where p_outcomes[d.ordinal] is null) as room
        from
          unnest(p_decisions) as d
          join entitlements as e
            on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
        group by e.org_id
      ),
      placed as (
        select
          d.org_id,
          p_outcomes[d.ordinal] as outcome,
          d.ordinal,
          count(*)
            filter (where p_outcomes[d.ordinal] = 'ABOVE_CAP')
            over (
              partition by d.org_id
              order by d.ordinal
            ) as place
        from unnest(p_decisions) as d
      )
    select
      array_agg(
        case
          when p.outcome is distinct from 'ABOVE_CAP' then p.outcome
          when p.place <= f.room then 'STALE'
          else 'PLAN_REQUIRED'
        end
        order by p.ordinal
      )
    from
      placed as p
      left join freed as f using (org_id)
  );
end;
$$;

-- Counts what is stored against the caps. Each org's exclusive lock is held: nobody else counts.
create function svc_count_caps(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
as $$
begin
  update entitlements as e
  set checks_since_cap = e.checks_since_cap + stored.checks
  from
    (
      select d.org_id, count(*) as checks
      from
        unnest(p_decisions) as d
        join entitlements as e
          on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.evaluated_at_ms / 1000.0)
      where p_outcomes[d.ordinal] is null and e.check_cap is not null
      group by d.org_id
    ) as stored
  where e.org_id = stored.org_id;
end;
$$;
