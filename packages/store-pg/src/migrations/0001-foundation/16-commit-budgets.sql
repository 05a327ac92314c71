-- How often the balances of a Grant have moved. STABLE: it reads with the snapshot of the statement that asks.
create function svc_balances_version(p_grant_id text)
returns bigint
language plpgsql
stable
as $$
begin
  return (select coalesce(max(version), 0) from consumption_events where grant_id = p_grant_id);
end;
$$;

-- Marks as OVERTAKEN, among decisions without an outcome, those that rest on other balances than the ones that they would
-- meet. Each that consumes makes the next version for those of its Grant behind it, so these hold only as long as it does.
-- `p_missed`: the locks that were not had. Under the others, and in a statement after them.
create function svc_judge_budgets(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
begin
  return (
    with
      decision as (
        select
          d.ordinal,
          p_outcomes[d.ordinal] as outcome,
          d.balances_grant_id as grant_id,
          d.balances_version as version,
          d.budget_key is not null as consumes
        from unnest(p_decisions) as d
      ),
      present as (
        select grant_id, svc_balances_version(grant_id) as version
        from decision
        where hashtext(grant_id) != all (p_missed)
        group by grant_id
      ),
      placed as (
        select
          d.*,
          d.outcome is null
          and d.version is not distinct from p.version + count(*)
            filter (where d.consumes)
            over ahead as holds
        from
          decision as d
          left join present as p using (grant_id)
        window
          ahead as (
            partition by d.grant_id
            order by d.ordinal
            rows between unbounded preceding and 1 preceding
          )
      )
    select
      array_agg(
        case
          when p.grant_id is not null
          and p.outcome is null
          and not (p.holds and p.ordinal <= coalesce(p.first_lost, p.ordinal)) then 'OVERTAKEN'
          else p.outcome
        end
        order by p.ordinal
      )
    from
      (
        select
          *,
          min(ordinal) filter (where consumes and not holds) over (partition by grant_id) as first_lost
        from placed
      ) as p
  );
end;
$$;

-- Whether a limit allows so much more. Nothing more is allowed whatever has been spent.
create function svc_is_within(p_spent bigint, p_delta bigint, p_limit bigint)
returns boolean
language sql
immutable
as $$
  select p_delta = 0 or p_limit is null or p_spent + p_delta <= p_limit;
$$;

-- Writes into the log what the decisions without an outcome consume.
create function svc_log_consumption(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
as $$
begin
  insert into consumption_events
    (
      grant_id,
      version,
      key,
      delta_total,
      delta_period,
      delta_uses,
      period_start,
      cause,
      cause_id,
      receipt_id,
      recorded_at
    )
  select
    d.balances_grant_id,
    d.balances_version + 1,
    d.budget_key,
    d.delta_total,
    d.delta_period,
    d.delta_uses,
    to_timestamp(d.period_start_ms / 1000.0),
    'consume',
    d.receipt_id,
    d.receipt_id,
    to_timestamp(d.evaluated_at_ms / 1000.0)
  from unnest(p_decisions) as d
  where p_outcomes[d.ordinal] is null and d.budget_key is not null;
end;
$$;

-- What they consume of each budget, as its balance would be if nothing had been spent before. The window is that of the
-- last of them, and what counts in it is what was consumed in it.
create function svc_sum_consumption(p_decisions svc_decision[], p_outcomes text[])
returns setof consumption_balances
language plpgsql
volatile
as $$
begin
  return query with
      consumed as (
        select
          d.*,
          last_value(d.period_start_ms) over budget as last_period_start_ms,
          last_value(d.evaluated_at_ms) over budget as last_evaluated_at_ms
        from unnest(p_decisions) as d
        where p_outcomes[d.ordinal] is null and d.budget_key is not null
        window
          budget as (
            partition by d.balances_grant_id, d.budget_key
            order by d.balances_version
            rows between unbounded preceding and unbounded following
          )
      )
    select
      c.balances_grant_id,
      c.budget_key,
      sum(c.delta_total)::bigint,
      sum(c.delta_period) filter (
        where c.period_start_ms is not distinct from c.last_period_start_ms
      )::bigint,
      to_timestamp(c.last_period_start_ms / 1000.0),
      sum(c.delta_uses)::bigint,
      c.limit_total,
      c.limit_per_period,
      c.limit_uses,
      to_timestamp(c.last_evaluated_at_ms / 1000.0)
    from consumed as c
    group by
      c.balances_grant_id,
      c.budget_key,
      c.limit_total,
      c.limit_per_period,
      c.limit_uses,
      c.last_period_start_ms,
      c.last_evaluated_at_ms;
end;
$$;

-- Records what the decisions without an outcome consume. They have been judged, so every limit allows it; that is
-- checked once more by adding up what is stored.
create function svc_consume(p_decisions svc_decision[], p_outcomes text[])
returns void
language plpgsql
volatile
as $$
declare
  v_budgets integer;
  v_moved integer;
begin
  perform svc_log_consumption(p_decisions, p_outcomes);
  with
    movement as (select * from svc_sum_consumption(p_decisions, p_outcomes)),
    moved as (
      insert into consumption_balances as stored
      select m.*
      from movement as m
      where
        svc_is_within(0, m.spent_total, m.limit_total)
        and svc_is_within(0, m.spent_in_period, m.limit_per_period)
        and svc_is_within(0, m.uses_spent, m.limit_uses)
      on conflict (grant_id, key) do update
        set
          spent_total = stored.spent_total + excluded.spent_total,
          spent_in_period = excluded.spent_in_period + case
            when stored.period_start is not distinct from excluded.period_start then stored.spent_in_period
            else 0
          end,
          period_start = excluded.period_start,
          uses_spent = stored.uses_spent + excluded.uses_spent,
          limit_total = excluded.limit_total,
          limit_per_period = excluded.limit_per_period,
          limit_uses = excluded.limit_uses,
          updated_at = excluded.updated_at
        where
          svc_is_within(stored.spent_total, excluded.spent_total, excluded.limit_total)
          and svc_is_within(stored.uses_spent, excluded.uses_spent, excluded.limit_uses)
          and svc_is_within(
            case
              when stored.period_start is not distinct from excluded.period_start then stored.spent_in_period
              else 0
            end,
            excluded.spent_in_period,
            excluded.limit_per_period
          )
      returning 1
    )
  select (select count(*) from movement), (select count(*) from moved)
  into strict v_budgets, v_moved;
  if v_moved != v_budgets then
    raise exception 'a budget would be overdrawn' using errcode = 'integrity_constraint_violation';
  end if;
end;
$$;

-- Those behind a decision that has lost what it claimed do not hold any more, and give back what they had claimed.
create function svc_settle_budgets(p_decisions svc_decision[], p_missed integer[], p_outcomes text[])
returns text[]
language plpgsql
volatile
as $$
declare
  v_outcomes text[] := svc_judge_budgets(p_decisions, p_missed, p_outcomes);
begin
  if v_outcomes is distinct from p_outcomes then
    perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);
    v_outcomes := svc_release_proofs(p_decisions, p_outcomes, v_outcomes);
  end if;
  return v_outcomes;
end;
$$;
