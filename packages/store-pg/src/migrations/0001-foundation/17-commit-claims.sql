-- Claims the idempotency keys of decisions without an outcome, in one order for every session; those whose key has a
-- Receipt are IDEMPOTENCY_TAKEN. A key may be used again after 10 minutes.
create function svc_claim_keys(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_outcomes text[];
begin
  with
    candidate as (
      select distinct on (d.relying_party, d.idempotency_key)
        d.relying_party,
        d.idempotency_key as key,
        d.idempotency_body_hash as body_hash,
        d.receipt_id
      from unnest(p_decisions) as d
      where d.idempotency_key is not null and p_outcomes[d.ordinal] is null
      order by d.relying_party, d.idempotency_key, d.ordinal
    ),
    claimed as (
      insert into idempotency_keys as stored (relying_party, key, body_hash, receipt_id, created_at)
      select c.relying_party, c.key, c.body_hash, c.receipt_id, v_now
      from candidate as c
      order by c.relying_party, c.key
      on conflict (relying_party, key) do update
        set
          body_hash = excluded.body_hash,
          receipt_id = excluded.receipt_id,
          created_at = excluded.created_at
        where stored.created_at < v_now - interval '10 minutes'
      returning stored.receipt_id
    )
  select
    array_agg(
      case
        when d.idempotency_key is not null
        and p_outcomes[d.ordinal] is null
        and c.receipt_id is null then 'IDEMPOTENCY_TAKEN'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join claimed as c on c.receipt_id = d.receipt_id;
  return v_outcomes;
end;
$$;

-- Gives back the idempotency keys of decisions that were on their way and are not any more.
create function svc_release_keys(p_decisions svc_decision[], p_before text[], p_after text[])
returns void
language plpgsql
volatile
as $$
begin
  delete from idempotency_keys as stored
  using unnest(p_decisions) as d
  where
    p_before[d.ordinal] is null
    and p_after[d.ordinal] is not null
    and stored.relying_party = d.relying_party
    and stored.key = d.idempotency_key
    and stored.receipt_id = d.receipt_id;
end;
$$;

-- Spends the Proofs of decisions without an outcome, in one order for every session; those whose Proof is spent are
-- REPLAY, and give their idempotency keys back.
create function svc_spend_proofs(p_decisions svc_decision[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
declare
  v_outcomes text[];
begin
  with
    candidate as (
      select distinct on (d.spend_grant_id, d.spend_jti)
        d.spend_grant_id as grant_id,
        d.spend_jti as jti,
        d.spend_expires_at_ms,
        d.ordinal
      from unnest(p_decisions) as d
      where d.spend_grant_id is not null and p_outcomes[d.ordinal] is null
      order by d.spend_grant_id, d.spend_jti, d.ordinal
    ),
    spent as (
      insert into spent_proofs (grant_id, jti, expires_at)
      select c.grant_id, c.jti, to_timestamp(c.spend_expires_at_ms / 1000.0)
      from candidate as c
      order by c.grant_id, c.jti
      on conflict (grant_id, jti) do nothing
      returning grant_id, jti
    ),
    winner as (
      select c.ordinal
      from
        candidate as c
        join spent using (grant_id, jti)
    )
  select
    array_agg(
      case
        when d.spend_grant_id is not null
        and p_outcomes[d.ordinal] is null
        and w.ordinal is null then 'REPLAY'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join winner as w on w.ordinal = d.ordinal;
  if v_outcomes is distinct from p_outcomes then
    perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
  end if;
  return v_outcomes;
end;
$$;

-- Gives back the Proofs of such decisions, and answers the outcomes anew: what lost to one of them in this batch has not
-- lost, it is OVERTAKEN with it.
create function svc_release_proofs(p_decisions svc_decision[], p_before text[], p_after text[])
returns text[]
language plpgsql
volatile
as $$
begin
  delete from spent_proofs as stored
  using unnest(p_decisions) as d
  where
    p_before[d.ordinal] is null
    and p_after[d.ordinal] is not null
    and stored.grant_id = d.spend_grant_id
    and stored.jti = d.spend_jti;
  return (
    select
      array_agg(
        case
          when p_after[d.ordinal] = 'REPLAY'
          and s.jti is null then 'OVERTAKEN'
          else p_after[d.ordinal]
        end
        order by d.ordinal
      )
    from
      unnest(p_decisions) as d
      left join spent_proofs as s on s.grant_id = d.spend_grant_id and s.jti = d.spend_jti
  );
end;
$$;

-- Binds each Grant to its id with the first of its decisions that has everything else. Those with another Grant than the
-- one that is bound by now are STALE, give back what they had claimed, and take with them what rests on them. It is the
-- last claim, so what is bound has an ALLOW that is stored. Ascending ids, as every session binds.
create function svc_bind_grants(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
declare
  v_outcomes text[];
begin
  insert into allowed_grants (grant_id, grant_hash)
  select distinct on (d.spend_grant_id) d.spend_grant_id, d.binds_grant_hash
  from unnest(p_decisions) as d
  where d.binds_grant_hash is not null and p_outcomes[d.ordinal] is null
  order by d.spend_grant_id, d.ordinal
  on conflict (grant_id) do nothing;
  -- A statement of its own: its snapshot has what the session has bound that was waited for.
  select
    array_agg(
      case
        when d.binds_grant_hash is not null
        and p_outcomes[d.ordinal] is null
        and a.grant_hash is distinct from d.binds_grant_hash then 'STALE'
        else p_outcomes[d.ordinal]
      end
      order by d.ordinal
    )
  into v_outcomes
  from
    unnest(p_decisions) as d
    left join allowed_grants as a on a.grant_id = d.spend_grant_id;
  if v_outcomes is not distinct from p_outcomes then
    return v_outcomes;
  end if;
  perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
  v_outcomes := svc_release_proofs(p_decisions, p_outcomes, v_outcomes);
  return svc_settle_budgets(p_decisions, p_missed, v_outcomes);
end;
$$;
