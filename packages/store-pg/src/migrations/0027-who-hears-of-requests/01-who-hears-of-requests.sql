-- runs-from: 0005-roles
-- What is asked of a Principal, and how little is left of a budget of its, are told as decisions are (0026): where it is hosted, to who has proven its domain.

-- As in 0018-approvals.
create or replace function svc_emit_approval()
returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  v_is_asked boolean := new.state = 'pending';
begin
  perform
    svc_emit_event(
      case
        when v_is_asked then 'approval.requested'
        else 'approval.decided'
      end,
      new.request_id,
      case
        when v_is_asked then (
          select p.did from principals as p where p.did = new.principal and svc_may_hear_decisions(p)
        )
      end,
      case
        when not v_is_asked then new.relying_party
      end,
      coalesce(new.decided_at, new.requested_at),
      json_build_object(
        'request_id',
        new.request_id,
        'status',
        new.state,
        'relying_party',
        new.relying_party,
        'principal',
        new.principal,
        'grant_id',
        new.grant_id,
        'agent',
        new.agent
      )
    );
  return null;
end;
$$;

-- As in 0014-fair-deliveries.
create or replace function svc_emit_low_budgets(p_decisions svc_decision[], p_outcomes text[])
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
        join principals as p on p.did = c.principal and svc_may_hear_decisions(p)
        join event_wants as w
          on w.type = 'budget.low' and w.audience = any (array['principal ' || p.did, 'org ' || p.org_id])
      where
        b.limit_total is not null
        and (b.limit_total - b.spent_total) * 100 <= b.limit_total * w.budget_low_percent::numeric
        and (b.limit_total - b.spent_total + c.delta) * 100 > b.limit_total * w.budget_low_percent::numeric
    ) as low;
end;
$$;
