-- The commit of a batch of decisions (protocol §10) and the barrier of a revocation (protocol §9).
--
-- Advisory locks: (1, hash of a Principal's DID) is shared by commits and exclusive to the revoker; (2, day
-- number) is shared by commits and exclusive to whoever closes the day or seals the ledger. Elsewhere:
-- (3, 0) partition creation, (4, 0) migration, (5, hash of a domain) status list numbers, (6, hash of a name) work
-- for one node at a time, (7, hash of a receipt id) its outcome ledger. And (8, hash of an org id) is shared by commits
-- of the org's production checks, exclusive to those that draw on a cap, and to whoever pushes the org's entitlement.
-- (9, hash of a Grant id) is exclusive to whoever reads its balances to move them: commits, and restores (consumption.sql).
--
-- What makes it correct:
-- - The function is VOLATILE plpgsql under READ COMMITTED, so each statement has its own snapshot, and the one
--   that judges the decisions is taken after the locks. Locking within that statement, or in a CTE or a STABLE
--   function, would read from before the lock and miss a revocation.
-- - `evaluated_at` is compared with a clock read under the locks. The revoker reads its own under the exclusive
--   lock, so no ALLOW is dated after `revoked_at`.
-- - The ledger's seal is read under the day locks too: nothing is ever stored below it (usage.sql).
-- - An org's lock fences its entitlement: it is shared, or exclusive under a cap, as the evaluation found the row, and
--   the version read afterwards tells whether it still is that row. So checks are counted and capped one batch after
--   another, and no decision passes by a row that a push has replaced.
-- - A decision on balances holds only on the version that it was evaluated on, read under the Grant's lock; in one batch
--   those of a Grant can follow each other, each on what the one before leaves. Where one of them is not stored, those
--   behind it are not either, and give back what they had claimed. The amounts are held against the limits once more.
-- - This function never waits for a Grant's lock: by now it may hold other locks. Whoever commits decisions on balances has
--   taken the Grants' locks before, in the same transaction and before any other (verify/commit-on-budgets.ts); then this
--   function finds that it has them.
-- - Waiting follows one order in every session: Principal locks by hash, day locks by number, org locks by hash,
--   idempotency keys, spent Proofs, each sorted. No two batches, and no batch and revokers, can wait for each other
--   in a circle.
-- - A shared lock is first tried, then waited for. The try fails as soon as a revoker stands in the line, so a
--   stream of decisions cannot starve it. FOR SHARE on a row would.
--
-- The planner is pinned because the plans live as long as the connection: they must stay index look-ups when
-- the tables were small, and the batch of one, at the time of planning.

-- Takes a shared lock, waiting until the deadline at most. False: not had.
create function svc_lock_shared(p_space integer, p_key integer, p_deadline timestamptz)
returns boolean
language plpgsql
volatile
as $$
declare
  v_wait_ms integer;
begin
  if pg_try_advisory_xact_lock_shared(p_space, p_key) then
    return true;
  end if;
  v_wait_ms := floor(extract(epoch from p_deadline - clock_timestamp()) * 1000);
  if v_wait_ms < 1 then
    return false;
  end if;
  begin
    perform set_config('lock_timeout', v_wait_ms || 'ms', true);
    perform pg_advisory_xact_lock_shared(p_space, p_key);
    perform set_config('lock_timeout', '400ms', true);
    return true;
  exception when lock_not_available then
    return false;
  end;
end;
$$;

-- The same for an exclusive lock.
create function svc_lock_exclusive(p_space integer, p_key integer, p_deadline timestamptz)
returns boolean
language plpgsql
volatile
as $$
declare
  v_wait_ms integer;
begin
  if pg_try_advisory_xact_lock(p_space, p_key) then
    return true;
  end if;
  v_wait_ms := floor(extract(epoch from p_deadline - clock_timestamp()) * 1000);
  if v_wait_ms < 1 then
    return false;
  end if;
  begin
    perform set_config('lock_timeout', v_wait_ms || 'ms', true);
    perform pg_advisory_xact_lock(p_space, p_key);
    perform set_config('lock_timeout', '400ms', true);
    return true;
  exception when lock_not_available then
    return false;
  end;
end;
$$;

-- One array per column, one element per decision; answers one outcome per decision, in the same order.
create function svc_commit_decisions(
  p_receipt_id text[],
  p_jws text[],
  p_decision text[],
  p_reason text[],
  p_evaluated_at_ms bigint[],
  p_relying_party text[],
  p_relying_party_version bigint[],
  p_key_hash text[],
  p_key_id text[],
  -- The Grant is the one that was found in force, by a status list that may be older than its revocation.
  p_used_principal text[],
  p_used_principal_version bigint[],
  p_used_grant_id text[],
  p_principal text[],
  p_grant_id text[],
  p_agent text[],
  p_action_type text[],
  p_amount bigint[],
  p_currency text[],
  p_resource text[],
  p_method text[],
  p_spend_grant_id text[],
  p_spend_jti text[],
  p_spend_expires_at_ms bigint[],
  p_idempotency_key text[],
  p_idempotency_body_hash text[],
  -- The entitlement as the evaluation found it: version 0 without a row. The org is null for what is no production check.
  p_org_id text[],
  p_entitlement_version bigint[],
  p_is_capped boolean[],
  p_is_enforced boolean[],
  -- Null for what consulted no balances: {grant_id, version}, and what an ALLOW consumes: {key, delta_…, limit_…, period_start_ms}.
  p_budgets jsonb[]
)
returns text[]
language plpgsql
volatile
set lock_timeout = '400ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  -- Null while a decision is still on its way into the ledger.
  v_outcome text[];
  v_deadline timestamptz := clock_timestamp() + interval '400 milliseconds';
  v_now timestamptz;
  v_sealed_before text;
  v_key integer;
  v_missed_principals integer[] := '{}';
  v_missed_days integer[] := '{}';
  v_missed_orgs integer[] := '{}';
  v_is_exclusive boolean;
  v_has_budgets boolean := cardinality(array_remove(p_budgets, null)) > 0;
  v_missed_budgets integer[] := '{}';
  v_claimed text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'decisions are committed under READ COMMITTED only' using errcode = 'invalid_transaction_state';
  end if;
  -- An acknowledged decision must survive a crash, however the server is configured.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  for v_key in select distinct hashtext(did) from unnest(p_used_principal) as did where did is not null order by 1 loop
    if not svc_lock_shared(1, v_key, v_deadline) then
      v_missed_principals := v_missed_principals || v_key;
    end if;
  end loop;
  for v_key in select distinct (ms / 86400000)::integer from unnest(p_evaluated_at_ms) as ms order by 1 loop
    if not svc_lock_shared(2, v_key, v_deadline) then
      v_missed_days := v_missed_days || v_key;
    end if;
  end loop;
  if cardinality(array_remove(p_org_id, null)) > 0 then
    for v_key, v_is_exclusive in
      select hashtext(d.org_id), bool_or(d.is_capped) from unnest(p_org_id, p_is_capped) as d (org_id, is_capped)
      where d.org_id is not null group by 1 order by 1
    loop
      if not (case when v_is_exclusive then svc_lock_exclusive(8, v_key, v_deadline)
          else svc_lock_shared(8, v_key, v_deadline) end) then
        v_missed_orgs := v_missed_orgs || v_key;
      end if;
    end loop;
  end if;
  if v_has_budgets then
    for v_key in select distinct hashtext(b ->> 'grant_id') from unnest(p_budgets) as b where b is not null order by 1 loop
      if not pg_try_advisory_xact_lock(9, v_key) then
        v_missed_budgets := v_missed_budgets || v_key;
      end if;
    end loop;
  end if;

  v_now := clock_timestamp();
  select sealed_before into strict v_sealed_before from ledger_seal;
  select array_agg(
    case
      when hashtext(d.used_principal) = any (v_missed_principals) or (d.ms / 86400000)::integer = any (v_missed_days)
        or hashtext(d.org_id) = any (v_missed_orgs)
        then 'LOCKED'
      when d.spend_grant_id is distinct from (case d.decision when 'ALLOW' then d.grant_id end)
        or (d.decision = 'ALLOW' and (d.grant_id is null or d.used_grant_id is distinct from d.grant_id))
        then 'REFUSED'
      when to_timestamp(d.ms / 1000.0) > v_now or to_timestamp(d.ms / 1000.0) < v_now - interval '2 seconds'
        or d.receipt_id < v_sealed_before
        then 'CLOCK'
      when k.key_hash is null or k.revoked_at is not null
        then 'KEY_REVOKED'
      when c.day is not null
        or r.version is distinct from d.relying_party_version
        or (d.used_principal is not null and p.version is distinct from d.used_principal_version)
        or (d.org_id is not null and coalesce(e.version, 0) is distinct from d.entitlement_version)
        -- The lock that was taken must be the lock of this Grant's Principal.
        or (d.used_grant_id is not null and (g.revocation_recorded_at is not null
            or g.principal is null or g.principal is distinct from d.used_principal))
        then 'STALE'
      when d.is_enforced and (e.production is distinct from 'allowed' or e.production_until <= to_timestamp(d.ms / 1000.0))
        then 'PLAN_REQUIRED'
    end order by d.ordinal)
  into v_outcome
  from unnest(p_receipt_id, p_evaluated_at_ms, p_decision, p_relying_party, p_relying_party_version, p_key_hash,
      p_used_principal, p_used_principal_version, p_used_grant_id, p_grant_id, p_spend_grant_id,
      p_org_id, p_entitlement_version, p_is_enforced)
    with ordinality as d (receipt_id, ms, decision, relying_party, relying_party_version, key_hash,
      used_principal, used_principal_version, used_grant_id, grant_id, spend_grant_id,
      org_id, entitlement_version, is_enforced, ordinal)
  left join closed_days c on c.day = date '1970-01-01' + (d.ms / 86400000)::integer
  left join relying_parties r on r.did = d.relying_party
  left join api_keys k on k.key_hash = decode(d.key_hash, 'hex')
  left join principals p on p.did = d.used_principal
  left join entitlements e on e.org_id = d.org_id
  left join grants g on g.id = d.used_grant_id;

  -- Before anything is claimed: who stands beyond the cap in the order of the batch. The mark is settled at the end.
  if true = any (p_is_capped) then
    select array_agg(case when d.is_enforced and d.outcome is null and d.place > d.room then 'ABOVE_CAP' else d.outcome end
      order by d.ordinal)
    into v_outcome
    from (
      select d.ordinal, d.outcome, d.is_enforced, e.check_cap - e.checks_since_cap as room,
        count(*) filter (where d.outcome is null and e.org_id is not null)
          over (partition by d.org_id order by d.ordinal) as place
      from unnest(p_org_id, p_evaluated_at_ms, p_is_enforced, v_outcome)
        with ordinality as d (org_id, ms, is_enforced, outcome, ordinal)
      left join entitlements e on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.ms / 1000.0)
    ) as d;
  end if;

  if v_has_budgets then
    v_outcome := svc_judge_budgets(p_budgets, v_missed_budgets, v_outcome);
  end if;

  if cardinality(array_remove(p_idempotency_key, null)) > 0 then
    with candidate as (
      select distinct on (d.relying_party, d.key) d.relying_party, d.key, d.body_hash, d.receipt_id
      from unnest(p_relying_party, p_idempotency_key, p_idempotency_body_hash, p_receipt_id, v_outcome)
        with ordinality as d (relying_party, key, body_hash, receipt_id, outcome, ordinal)
      where d.key is not null and d.outcome is null
      order by d.relying_party, d.key, d.ordinal
    ), claimed as (
      insert into idempotency_keys as stored (relying_party, key, body_hash, receipt_id, created_at)
      select c.relying_party, c.key, c.body_hash, c.receipt_id, v_now from candidate c order by c.relying_party, c.key
      on conflict (relying_party, key) do update
        set body_hash = excluded.body_hash, receipt_id = excluded.receipt_id, created_at = excluded.created_at
        where stored.created_at < v_now - interval '10 minutes'
      returning stored.receipt_id
    )
    select array_agg(
      case when d.key is not null and d.outcome is null and c.receipt_id is null then 'IDEMPOTENCY_TAKEN'
      else d.outcome end order by d.ordinal)
    into v_outcome
    from unnest(p_idempotency_key, p_receipt_id, v_outcome) with ordinality as d (key, receipt_id, outcome, ordinal)
    left join claimed c on c.receipt_id = d.receipt_id;
  end if;

  if cardinality(array_remove(p_spend_jti, null)) > 0 then
    with candidate as (
      select distinct on (d.grant_id, d.jti) d.grant_id, d.jti, d.expires_at_ms, d.ordinal
      from unnest(p_spend_grant_id, p_spend_jti, p_spend_expires_at_ms, v_outcome)
        with ordinality as d (grant_id, jti, expires_at_ms, outcome, ordinal)
      where d.grant_id is not null and d.outcome is null
      order by d.grant_id, d.jti, d.ordinal
    ), claimed as (
      insert into spent_proofs (grant_id, jti, expires_at)
      select c.grant_id, c.jti, to_timestamp(c.expires_at_ms / 1000.0) from candidate c order by c.grant_id, c.jti
      on conflict (grant_id, jti) do nothing
      returning grant_id, jti
    ), winner as (
      select c.ordinal from candidate c join claimed using (grant_id, jti)
    )
    select array_agg(
      case when d.grant_id is not null and d.outcome is null and w.ordinal is null then 'REPLAY'
      else d.outcome end order by d.ordinal)
    into v_outcome
    from unnest(p_spend_grant_id, v_outcome) with ordinality as d (grant_id, outcome, ordinal)
    left join winner w on w.ordinal = d.ordinal;

    if cardinality(array_remove(p_idempotency_key, null)) > 0 and 'REPLAY' = any (v_outcome) then
      delete from idempotency_keys stored
      using unnest(p_relying_party, p_idempotency_key, p_receipt_id, v_outcome)
        as d (relying_party, key, receipt_id, outcome)
      where d.outcome = 'REPLAY' and stored.relying_party = d.relying_party and stored.key = d.key
        and stored.receipt_id = d.receipt_id;
    end if;
  end if;

  if v_has_budgets and array_position(v_outcome, null) is not null then
    v_claimed := v_outcome;
    v_outcome := svc_judge_budgets(p_budgets, v_missed_budgets, v_outcome);
    if v_outcome is distinct from v_claimed then
      delete from idempotency_keys stored
      using unnest(p_relying_party, p_idempotency_key, p_receipt_id, v_claimed, v_outcome)
        as d (relying_party, key, receipt_id, claimed, outcome)
      where d.claimed is null and d.outcome is not null and stored.relying_party = d.relying_party and stored.key = d.key
        and stored.receipt_id = d.receipt_id;
      delete from spent_proofs stored
      using unnest(p_spend_grant_id, p_spend_jti, v_claimed, v_outcome) as d (grant_id, jti, claimed, outcome)
      where d.claimed is null and d.outcome is not null and stored.grant_id = d.grant_id and stored.jti = d.jti;
      -- What lost to one of them in this batch has not lost.
      select array_agg(case when d.outcome = 'REPLAY' and s.jti is null then 'OVERTAKEN' else d.outcome end order by d.ordinal)
      into v_outcome
      from unnest(p_spend_grant_id, p_spend_jti, v_outcome) with ordinality as d (grant_id, jti, outcome, ordinal)
      left join spent_proofs s on s.grant_id = d.grant_id and s.jti = d.jti;
    end if;
    perform svc_consume(p_budgets, p_receipt_id, p_evaluated_at_ms, v_outcome);
  end if;

  if array_position(v_outcome, null) is not null then
    insert into receipts (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason,
      evaluated_at, action_type, amount, currency, resource, method, jws, content_hash, production_check)
    select d.receipt_id, d.relying_party, d.principal, d.grant_id, d.agent, d.key_id, d.decision, d.reason,
      to_timestamp(d.evaluated_at_ms / 1000.0), d.action_type, d.amount, d.currency, d.resource, d.method, d.jws,
      sha256(convert_to(d.jws, 'UTF8')), d.org_id is not null
    from unnest(p_receipt_id, p_relying_party, p_principal, p_grant_id, p_agent, p_key_id, p_decision, p_reason,
        p_evaluated_at_ms, p_action_type, p_amount, p_currency, p_resource, p_method, p_jws,
        p_org_id, v_outcome)
      as d (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason,
        evaluated_at_ms, action_type, amount, currency, resource, method, jws,
        org_id, outcome)
    where d.outcome is null;
  end if;

  if true = any (p_is_capped) then
    if 'ABOVE_CAP' = any (v_outcome) then
      -- Where one that had a place was not stored after all, the next in line tries again.
      with freed as (
        select e.org_id, e.check_cap - e.checks_since_cap - count(*) filter (where d.outcome is null) as room
        from unnest(p_org_id, p_evaluated_at_ms, v_outcome) as d (org_id, ms, outcome)
        join entitlements e on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.ms / 1000.0)
        group by e.org_id
      )
      select array_agg(
        case when d.outcome is distinct from 'ABOVE_CAP' then d.outcome
          when d.place <= f.room then 'STALE'
          else 'PLAN_REQUIRED' end order by d.ordinal)
      into v_outcome
      from (
        select d.org_id, d.outcome, d.ordinal,
          count(*) filter (where d.outcome = 'ABOVE_CAP') over (partition by d.org_id order by d.ordinal) as place
        from unnest(p_org_id, v_outcome) with ordinality as d (org_id, outcome, ordinal)
      ) as d
      left join freed f on f.org_id = d.org_id;
    end if;
    -- The org's exclusive lock is held: nobody else counts.
    update entitlements e set checks_since_cap = e.checks_since_cap + stored.checks
    from (
      select d.org_id, count(*) as checks
      from unnest(p_org_id, p_evaluated_at_ms, v_outcome) as d (org_id, ms, outcome)
      join entitlements e on e.org_id = d.org_id and e.cap_since <= to_timestamp(d.ms / 1000.0)
      where d.outcome is null and e.check_cap is not null
      group by d.org_id
    ) as stored
    where e.org_id = stored.org_id;
  end if;
  return array_replace(v_outcome, null, 'STORED');
end
$$;

-- The barrier: once the exclusive lock is had, every commit that did not see the flag is over, and every later
-- one sees it. The stamp is read after the lock, never before.
create function svc_stamp_revoked(p_principal text, p_grant_ids text[])
returns table (grant_id text, revoked_at timestamptz)
language plpgsql
volatile
set lock_timeout = '2s'
as $$
declare
  v_stamp timestamptz;
begin
  perform pg_advisory_xact_lock(1, hashtext(p_principal));
  v_stamp := svc_now();
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
