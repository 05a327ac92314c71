-- What has been used up of the budgets of Grants (protocol §11): the log of movements, which is append-only and the
-- truth, and the balances that it adds up to. A movement is recorded in the transaction of what causes it, the Receipt of
-- a consume or the attestation of a restore, under the Grant's lock (9, see commit.sql), and has the next version of its
-- Grant. So the versions of a Grant run from 1 without a gap, and a transaction that has the lock reads the last one.
--
-- A Receipt consumes once at most, is restored once at most, and has its restore reversed once at most.

create table consumption_events (
  grant_id text collate "C" not null,
  version bigint not null check (version > 0),
  key text collate "C" not null,
  delta_total bigint not null,
  delta_period bigint not null,
  delta_uses bigint not null,
  -- The window in which `delta_period` counts; null where the budget has no period.
  period_start timestamptz,
  cause text not null check (cause in ('consume', 'restore', 'restore_reversal')),
  cause_id text collate "C" not null,
  receipt_id text collate "C" not null,
  recorded_at timestamptz not null,
  primary key (grant_id, version),
  unique (receipt_id, cause),
  check ((cause = 'consume') = (cause_id = receipt_id)),
  check (
    case cause
      when 'restore' then delta_total <= 0
      and delta_period <= 0
      and delta_uses < 0
      else delta_total >= 0
      and delta_period >= 0
      and delta_uses > 0
    end
  )
);
create trigger refuse_change
before update or delete on consumption_events
for each row
execute function svc_refuse_change();
create trigger refuse_truncate
before truncate on consumption_events
for each statement
execute function svc_refuse_change();

-- One row for each budget that was ever consumed from. More than a limit can have been spent after a reversal.
create table consumption_balances (
  grant_id text collate "C" not null,
  key text collate "C" not null,
  spent_total bigint not null check (spent_total between 0 and 9007199254740991),
  spent_in_period bigint not null check (spent_in_period between 0 and 9007199254740991),
  period_start timestamptz,
  uses_spent bigint not null check (uses_spent between 0 and 9007199254740991),
  limit_total bigint,
  limit_per_period bigint,
  limit_uses bigint,
  updated_at timestamptz not null,
  primary key (grant_id, key),
  check ((period_start is null) = (limit_per_period is null))
)
with (fillfactor = 50);

-- Marks as OVERTAKEN, among decisions without an outcome, those that rest on other balances than the ones that they would
-- meet. Each that consumes makes the next version for those of its Grant behind it, so these hold only as long as it does.
-- `p_missed`: the locks that were not had. Under the others, and in a statement after them.
create function svc_judge_budgets(p_budgets jsonb[], p_missed integer[], p_outcome text[])
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
          d.outcome,
          d.budget ->> 'grant_id' as grant_id,
          (d.budget ->> 'version')::bigint as version,
          d.budget ->> 'key' is not null as consumes
        from unnest(p_budgets, p_outcome) with ordinality as d (budget, outcome, ordinal)
      ),
      present as (
        select
          g.grant_id,
          (
            select coalesce(max(e.version), 0) from consumption_events as e where e.grant_id = g.grant_id
          ) as version
        from (select distinct grant_id from decision where grant_id is not null) as g
        where hashtext(g.grant_id) != all (p_missed)
      ),
      placed as (
        select
          d.*,
          d.outcome is null
          and d.version is not distinct from p.version + count(*)
            filter (where d.consumes)
            over (
              partition by d.grant_id
              order by d.ordinal
            ) - d.consumes::integer as holds
        from
          decision as d
          left join present as p using (grant_id)
      )
    select
      array_agg(
        case
          when p.grant_id is not null
          and p.outcome is null
          and not (p.holds and p.is_reached) then 'OVERTAKEN'
          else p.outcome
        end
        order by p.ordinal
      )
    from
      (
        select
          *,
          coalesce(
            bool_and(holds)
              filter (where consumes)
              over (
                partition by grant_id
                order by ordinal
                rows between unbounded preceding and 1 preceding
              ),
            true
          ) as is_reached
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

-- Records what the decisions without an outcome consume. They have been judged, so every limit allows it; that is
-- checked once more by adding up what is stored.
create function svc_consume(
  p_budgets jsonb[],
  p_receipt_id text[],
  p_evaluated_at_ms bigint[],
  p_outcome text[]
)
returns void
language plpgsql
volatile
as $$
declare
  v_budgets integer;
  v_moved integer;
begin
  with
    event as (
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
        d.budget ->> 'grant_id',
        (d.budget ->> 'version')::bigint + 1,
        d.budget ->> 'key',
        (d.budget ->> 'delta_total')::bigint,
        (d.budget ->> 'delta_period')::bigint,
        (d.budget ->> 'delta_uses')::bigint,
        to_timestamp((d.budget ->> 'period_start_ms')::bigint / 1000.0),
        'consume',
        d.receipt_id,
        d.receipt_id,
        to_timestamp(d.ms / 1000.0)
      from
        unnest(p_budgets, p_receipt_id, p_evaluated_at_ms, p_outcome) as d (budget, receipt_id, ms, outcome)
      where d.outcome is null and d.budget ->> 'key' is not null
      returning *
    ),
    last_event as (
      select distinct on (e.grant_id, e.key) e.* from event as e order by e.grant_id, e.key, e.version desc
    ),
    budget as (
      select distinct
        d.budget ->> 'grant_id' as grant_id,
        d.budget ->> 'key' as key,
        (d.budget ->> 'limit_total')::bigint as total,
        (d.budget ->> 'limit_per_period')::bigint as per_period,
        (d.budget ->> 'limit_uses')::bigint as uses
      from unnest(p_budgets, p_outcome) as d (budget, outcome)
      where d.outcome is null and d.budget ->> 'key' is not null
    ),
    movement as (
      select
        b.*,
        l.period_start,
        l.recorded_at,
        sum(e.delta_total)::bigint as delta_total,
        sum(e.delta_uses)::bigint as delta_uses,
        sum(e.delta_period) filter (
          where e.period_start is not distinct from l.period_start
        )::bigint as delta_period
      from
        budget as b
        join last_event as l using (grant_id, key)
        join event as e using (grant_id, key)
      group by b.grant_id, b.key, b.total, b.per_period, b.uses, l.period_start, l.recorded_at
    ),
    moved as (
      insert into consumption_balances as stored (
        grant_id,
        key,
        spent_total,
        spent_in_period,
        period_start,
        uses_spent,
        limit_total,
        limit_per_period,
        limit_uses,
        updated_at
      )
      select
        m.grant_id,
        m.key,
        m.delta_total,
        m.delta_period,
        m.period_start,
        m.delta_uses,
        m.total,
        m.per_period,
        m.uses,
        m.recorded_at
      from movement as m
      where
        svc_is_within(0, m.delta_total, m.total)
        and svc_is_within(0, m.delta_period, m.per_period)
        and svc_is_within(0, m.delta_uses, m.uses)
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
