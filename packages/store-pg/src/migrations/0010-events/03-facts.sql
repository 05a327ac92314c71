-- What is told of, where it is written: whoever writes the fact writes the event.

-- The decisions that are about to be stored. Their ids are those of their Receipts, so there is one for each.
create function svc_emit_decisions(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  insert into event_outbox (event_id, audience, type, order_key, occurred_at, data)
  select
    'evt_' || substr(d.receipt_id, 5),
    w.audience,
    d.type,
    d.grant_id,
    to_timestamp(d.evaluated_at_ms / 1000.0),
    json_build_object(
      'receipt_id',
      d.receipt_id,
      'relying_party',
      d.relying_party,
      'principal',
      d.principal,
      'grant_id',
      d.grant_id,
      'agent',
      d.agent
    )::text
  from
    (select s.*, 'decision.' || lower(s.decision) as type from unnest(p_decisions) as s) as d
    left join principals as p on p.did = d.principal
    left join relying_parties as r on r.did = d.relying_party
    cross join lateral (
      select distinct w.audience
      from event_wants as w
      where
        w.type = d.type
        and w.audience = any (
          array['rp ' || d.relying_party, 'org ' || r.org_id, 'principal ' || d.principal, 'org ' || p.org_id]
        )
    ) as w
  where p_outcomes[d.ordinal] is null
  order by d.ordinal;
end;
$$;

-- The totals that what they consume has brought down to a share that somebody wants to hear of.
create function svc_emit_low_budgets(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
set search_path = public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform
    svc_emit_event(
      'budget.low',
      low.grant_id,
      low.principal,
      null,
      low.at,
      json_build_object(
        'grant_id',
        low.grant_id,
        'principal',
        low.principal,
        'key',
        low.key,
        'percent',
        low.percent
      ),
      low.percent
    )
  from
    (
      select distinct c.grant_id, c.principal, c.key, c.at, w.budget_low_percent as percent
      from
        (
          select
            d.balances_grant_id as grant_id,
            d.budget_key as key,
            max(d.principal) as principal,
            max(to_timestamp(d.evaluated_at_ms / 1000.0)) as at,
            sum(d.delta_total) as delta
          from unnest(p_decisions) as d
          where p_outcomes[d.ordinal] is null and d.budget_key is not null
          group by d.balances_grant_id, d.budget_key
        ) as c
        join consumption_balances as b on b.grant_id = c.grant_id and b.key = c.key
        join event_wants as w on w.type = 'budget.low'
      where
        b.limit_total is not null
        and (b.limit_total - b.spent_total) * 100 <= b.limit_total * w.budget_low_percent::numeric
        and (b.limit_total - b.spent_total + c.delta) * 100 > b.limit_total * w.budget_low_percent::numeric
    ) as low;
end;
$$;

-- As in 0001-foundation, and tells of what it stores where anybody wants to hear of anything.
create or replace function svc_commit_decisions(p_decisions svc_decision[], p_jws text[])
returns text[]
language plpgsql
volatile
set lock_timeout = '400ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set search_path = public, pg_temp
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
    count(binds_grant_hash) > 0 as binds,
    exists (select from event_wants) as wants
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
  if v_any.wants then
    perform svc_emit_decisions(p_decisions, v_outcomes);
  end if;
  if v_any.wants and v_any.balances then
    perform svc_emit_low_budgets(p_decisions, v_outcomes);
  end if;
  if v_any.caps then
    v_outcomes := svc_settle_caps(p_decisions, v_outcomes);
    perform svc_count_caps(p_decisions, v_outcomes);
  end if;
  return array_replace(v_outcomes, null, 'STORED');
end;
$$;

-- One event for each row, in a function of its own for each table, since each has other columns.
create function svc_emit_grant_revoked()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_data json := json_build_object('grant_id', new.id, 'principal', new.principal, 'agent', new.agent);
begin
  if not exists (select from event_wants where type = 'grant.revoked') then
    return null;
  end if;
  perform
    svc_emit_to(
      -- Who has verified it is looked up when the log is read: a revocation does not wait for that.
      array(
        select distinct w.audience
        from event_wants as w
        where
          w.type = 'grant.revoked'
          and w.audience in (
            'principal ' || new.principal,
            'org ' || (select org_id from principals where did = new.principal)
          )
      ) || array['verifiers'],
      'grant.revoked',
      new.id,
      new.revoked_at,
      v_data
    );
  return null;
end;
$$;
create trigger emit_event
after update of revoked_at on grants
for each row
when (old.revoked_at is null and new.revoked_at is not null)
execute function svc_emit_grant_revoked();

-- An Agent that is in no inventory has no other row than this.
create function svc_emit_agent_disabled()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform
    svc_emit_event(
      'agent.disabled',
      new.target,
      new.details ->> 'principal',
      null,
      new.occurred_at,
      json_build_object('agent', new.target, 'principal', new.details ->> 'principal')
    );
  return null;
end;
$$;
create trigger emit_event
after insert on audit_events
for each row
when (new.action = 'agent.disable')
execute function svc_emit_agent_disabled();

create function svc_emit_key_state()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform
    svc_emit_event(
      'key.' || new.state,
      new.kid,
      new.principal,
      null,
      new.since,
      json_build_object('kid', new.kid, 'principal', new.principal)
    );
  return null;
end;
$$;
create trigger emit_event
after update of state on principal_keys
for each row
when (old.state is distinct from new.state and new.state in ('retired', 'compromised'))
execute function svc_emit_key_state();

create function svc_emit_verification()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform
    svc_emit_event(
      'principal.' || new.verification_state,
      new.did,
      new.did,
      null,
      svc_now(),
      json_build_object('principal', new.did)
    );
  return null;
end;
$$;
create trigger emit_event
after update of verification_state on principals
for each row
when (old.verification_state is distinct from new.verification_state)
execute function svc_emit_verification();
create trigger emit_first_event
after insert on principals
for each row
when (new.verification_state = 'verified')
execute function svc_emit_verification();

create function svc_emit_checkpoint()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if exists (select from event_wants where type = 'checkpoint.published') then
    perform
      svc_emit_to(
        array['everyone'],
        'checkpoint.published',
        'checkpoints',
        new.created_at,
        json_build_object('day', new.day)
      );
  end if;
  return null;
end;
$$;
create trigger emit_event
after insert on checkpoints
for each row
execute function svc_emit_checkpoint();

create function svc_emit_outcome()
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
create trigger emit_event
after insert on attestations
for each row
execute function svc_emit_outcome();
