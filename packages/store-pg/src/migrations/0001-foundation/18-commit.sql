-- The commit of a batch of decisions (protocol §10): locks, judgement, claims, the ledger.
--
-- Advisory locks: (1, hash of a Principal's DID) is shared by commits and exclusive to the revoker; (2, day
-- number) is shared by commits and exclusive to whoever closes the day or seals the ledger. Elsewhere:
-- (3, 0) partition creation, (4, 0) migration, (5, hash of a domain) status list numbers, (6, hash of a name) work
-- for one node at a time, (7, hash of a receipt id) its outcome ledger. And (8, hash of an org id) is shared by commits
-- of the org's production checks, exclusive to those that draw on a cap, and to whoever pushes the org's entitlement.
-- (9, hash of a Grant id) is exclusive to whoever reads its balances to move them: commits, and restores (consumption.sql).
--
-- What makes it correct:
-- - The functions are VOLATILE plpgsql under READ COMMITTED, so each statement of each of them has its own snapshot, and
--   the one that judges the decisions is taken after the locks. Locking within that statement, or in a CTE or a STABLE
--   function, would read from before the lock and miss a revocation.
-- - `evaluated_at` is compared with a clock read under the locks. The revoker reads its own under the exclusive
--   lock, and takes the Principal's latest ALLOW if that is later (clock.sql), so no ALLOW is dated after `revoked_at`.
-- - The ledger's seal is read under the day locks too: nothing is ever stored below it (usage.sql).
-- - An org's lock fences its entitlement: it is shared, or exclusive under a cap, as the evaluation found the row, and
--   the version read afterwards tells whether it still is that row. So checks are counted and capped one batch after
--   another, and no decision passes by a row that a push has replaced.
-- - A decision on balances holds only on the version that it was evaluated on, read under the Grant's lock; in one batch
--   those of a Grant can follow each other, each on what the one before leaves. Where one of them is not stored, those
--   behind it are not either, and give back what they had claimed. The amounts are held against the limits once more.
-- - An id of a Grant is bound to the first Grant that is allowed under it. What is bound is never changed, so a decision that
--   found its own Grant bound does not look again; one that found none claims the id, after everything else.
-- - This function never waits for a Grant's lock: by now it may hold other locks. Whoever commits decisions on balances has
--   taken the Grants' locks before, in the same transaction and before any other (verify/commit-on-budgets.ts); then this
--   function finds that it has them.
-- - Waiting follows one order in every session: Principal locks by hash, day locks by number, org locks by hash,
--   idempotency keys, spent Proofs, ids of Grants, each sorted. No two batches, and no batch and revokers, can wait for each other
--   in a circle.
-- - A shared lock is first tried, then waited for. The try fails as soon as a revoker stands in the line, so a
--   stream of decisions cannot starve it. FOR SHARE on a row would.
--
-- The planner is pinned because the plans live as long as the connection: they must stay index look-ups when
-- the tables were small, and the batch of one, at the time of planning.

-- Puts the decisions without an outcome into the ledger.
create function svc_store(p_decisions svc_decision[], p_jws text[], p_outcomes text[])
returns void
language plpgsql
volatile
as $$
begin
  insert into receipts
    (
      receipt_id,
      relying_party,
      principal,
      grant_id,
      agent,
      key_id,
      decision,
      reason,
      evaluated_at,
      action_type,
      amount,
      currency,
      resource,
      method,
      jws,
      content_hash,
      production_check
    )
  select
    d.receipt_id,
    d.relying_party,
    d.principal,
    d.grant_id,
    d.agent,
    d.key_id,
    d.decision,
    d.reason,
    to_timestamp(d.evaluated_at_ms / 1000.0),
    d.action_type,
    d.amount,
    d.currency,
    d.resource,
    d.method,
    p_jws[d.ordinal],
    sha256(convert_to(p_jws[d.ordinal], 'UTF8')),
    d.org_id is not null
  from unnest(p_decisions) as d
  where p_outcomes[d.ordinal] is null;
end;
$$;

-- Refuses a transaction in which statements would not see what others have committed, and makes it a durable one: an
-- acknowledged decision must survive a crash, however the server is configured.
create function svc_prepare_commit()
returns void
language plpgsql
volatile
as $$
begin
  if current_setting('transaction_isolation') != 'read committed' then
    raise exception 'decisions are committed under READ COMMITTED only'
      using errcode = 'invalid_transaction_state';
  end if;
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end;
$$;

-- Takes each decision with its Receipt in the same place; answers one outcome per decision, in the same order.
create function svc_commit_decisions(p_decisions svc_decision[], p_jws text[])
returns text[]
language plpgsql
volatile
set lock_timeout = '400ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  v_outcomes text[];
  v_any record;
  v_missed integer[];
begin
  perform svc_prepare_commit();
  select
    bool_or(is_capped) as caps,
    count(balances_grant_id) > 0 as balances,
    count(idempotency_key) > 0 as keys,
    count(spend_jti) > 0 as proofs,
    count(binds_grant_hash) > 0 as binds
  into v_any
  from unnest(p_decisions);

  v_outcomes := svc_take_locks(p_decisions, clock_timestamp() + interval '400 milliseconds');
  if v_any.balances then
    v_missed := svc_try_balances(p_decisions);
  end if;
  v_outcomes := svc_judge(p_decisions, v_outcomes);
  if v_any.caps then
    v_outcomes := svc_judge_caps(p_decisions, v_outcomes);
  end if;
  if v_any.balances then
    v_outcomes := svc_judge_budgets(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.keys then
    v_outcomes := svc_claim_keys(p_decisions, v_outcomes);
  end if;
  if v_any.proofs then
    v_outcomes := svc_spend_proofs(p_decisions, v_outcomes);
  end if;
  if v_any.balances then
    v_outcomes := svc_settle_budgets(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.binds then
    v_outcomes := svc_bind_grants(p_decisions, v_missed, v_outcomes);
  end if;
  if v_any.balances then
    perform svc_consume(p_decisions, v_outcomes);
  end if;
  perform svc_store(p_decisions, p_jws, v_outcomes);
  if v_any.caps then
    v_outcomes := svc_settle_caps(p_decisions, v_outcomes);
    perform svc_count_caps(p_decisions, v_outcomes);
  end if;
  return array_replace(v_outcomes, null, 'STORED');
end;
$$;
