-- runs-from: 0005-roles
-- Decisions were told to whoever had registered the domain of their Principal, proven or not, and what became of them to whoever had its DID then.
-- Both are now told to those who may read them (decision 74).

-- What the keys of a domain have signed is not of those who have registered it without having proven it.
create function svc_may_hear_decisions(p_principal principals)
returns boolean
language sql
immutable
set search_path = public, pg_temp
as $$
  select p_principal.kind != 'hosted' or p_principal.verification_state = 'verified';
$$;

-- What was decided before is of whoever had the DID then.
create function svc_held_since(p_principal principals)
returns timestamptz
language sql
stable
set search_path = public, pg_temp
as $$
  select
    greatest(
      p_principal.created_at,
      (
        select max(occurred_at)
        from audit_events
        where
          target = p_principal.did
          and action = 'principal.verify'
          and details ->> 'claim' = 'transferred'
      )
    );
$$;

-- As in 0010-events, to those who may read them.
create or replace function svc_emit_decisions(p_decisions svc_decision[], p_outcomes text[])
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
    left join principals as p on p.did = d.principal and svc_may_hear_decisions(p)
    left join relying_parties as r on r.did = d.relying_party
    cross join lateral (
      select distinct w.audience
      from event_wants as w
      where
        w.type = d.type
        and w.audience = any (
          array['rp ' || d.relying_party, 'org ' || r.org_id, 'principal ' || p.did, 'org ' || p.org_id]
        )
    ) as w
  where p_outcomes[d.ordinal] is null
  order by d.ordinal;
end;
$$;

-- As in 0012-cold-days, to those who may read the decision.
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
      (
        select p.did
        from principals as p
        where
          p.did = new.principal
          and svc_may_hear_decisions(p)
          and new.receipt_id >= svc_lowest_receipt_id(svc_held_since(p))
      ),
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
