-- Counts of decisions (interface §Usage). `receipts` is the truth; the tables here are sums of it that make long ranges
-- cheap, and every receipt is counted in them exactly once.
--
-- Two watermarks, receipt ids that only move up, cut the ledger in three. Below `counted_before` a receipt is in the
-- sums; from there to `sealed_before` no receipt can be stored any more, and none is counted yet; above, decisions are
-- committed. Readers add the receipts from `counted_before` on to the sums in one snapshot, so they are exact at every
-- moment, whatever the counting is at.
--
-- The seal holds because a commit reads `sealed_before` under the shared locks of its days, and the sealer moves it
-- under the exclusive locks of every day between the old seal and the new one: a commit that read the old seal is over
-- by then, and visible to whoever counts; one that comes later reads the new seal and is refused. That is true whatever
-- any clock does.
--
-- A principal of null was not authenticated, a key of null is not known, a reason of null is an ALLOW.

create table ledger_seal (
  is_only_row boolean primary key default true check (is_only_row),
  sealed_until timestamptz not null,
  sealed_before text collate "C" not null generated always as (svc_lowest_receipt_id(sealed_until)) stored
);
insert into ledger_seal (sealed_until) select svc_now() - interval '1 day';

-- A table of its own: counting holds this row for as long as it takes, and no sealer may wait for that.
create table ledger_count (
  is_only_row boolean primary key default true check (is_only_row),
  counted_before text collate "C" not null
);
insert into ledger_count (counted_before) values (svc_lowest_receipt_id(to_timestamp(0)));

-- The finest grain. The others are sums of it, each for one kind of question. Where the rows of one relying party lie
-- far apart, its index holds what is added up.
create table usage_counts (
  day date not null,
  relying_party text collate "C" not null,
  principal text collate "C",
  key_id text collate "C",
  reason text,
  verifies bigint not null check (verifies > 0)
);
create unique index usage_counts_key on usage_counts (relying_party, day, principal, key_id, reason)
include (verifies)
nulls not distinct;
create index usage_counts_by_principal on usage_counts (principal, relying_party, day)
include (key_id, reason, verifies)
where principal is not null;

create table usage_by_key (
  day date not null,
  relying_party text collate "C" not null,
  key_id text collate "C",
  reason text,
  verifies bigint not null check (verifies > 0),
  -- How many of them count towards the cap of an org (entitlements.sql).
  production_checks bigint not null check (production_checks between 0 and verifies)
);
create unique index usage_by_key_key on usage_by_key (relying_party, day, key_id, reason) nulls not distinct;
create index usage_by_key_by_id on usage_by_key (key_id, day);

create table usage_by_principal (
  day date not null,
  principal text collate "C",
  reason text,
  verifies bigint not null check (verifies > 0)
);
create unique index usage_by_principal_key on usage_by_principal (principal, day, reason) nulls not distinct;
create index usage_by_principal_by_day on usage_by_principal (day);

-- Whole months, for what has no days: statistics by Principal.
create table usage_monthly (
  month date not null check (extract(day from month) = 1),
  relying_party text collate "C" not null,
  principal text collate "C",
  reason text,
  verifies bigint not null check (verifies > 0)
);
create unique index usage_monthly_key on usage_monthly (relying_party, month, principal, reason)
include (verifies)
nulls not distinct;

create table usage_monthly_by_principal (
  month date not null check (extract(day from month) = 1),
  principal text collate "C",
  reason text,
  verifies bigint not null check (verifies > 0)
);
create unique index usage_monthly_by_principal_key on usage_monthly_by_principal (month, principal, reason)
nulls not distinct;

create table usage_by_day (
  day date not null,
  reason text,
  verifies bigint not null check (verifies > 0)
);
create unique index usage_by_day_key on usage_by_day (day, reason) nulls not distinct;

-- Not how often but when: on which days decisions named a Grant that was authenticated, for those who look for them.
create table usage_by_grant (
  grant_id text collate "C" not null,
  principal text collate "C",
  days datemultirange not null
)
with (fillfactor = 80);
create unique index usage_by_grant_key on usage_by_grant (grant_id, principal) nulls not distinct;

-- Moves the seal up to shortly before now, which is not later than the time that the caller knows. Commits refuse decisions over 2 s old, so only one whose clock has stepped
-- back meets it. They wait in line behind the sealer, hence its short patience. After a long pause the seal moves a
-- month at a time, for the locks it takes; false: there is more to seal.
create function svc_seal_ledger(p_node_ms bigint)
returns boolean
language plpgsql
volatile
set lock_timeout = '100ms'
as $$
declare
  v_now timestamptz := least(svc_now(), svc_instant(p_node_ms)) - interval '3 seconds';
  v_from timestamptz;
  v_until timestamptz;
begin
  select sealed_until into strict v_from from ledger_seal;
  v_until := least(v_now, v_from + interval '31 days');
  for v_day in svc_ms(v_from) / 86400000..svc_ms(v_until) / 86400000 loop
    perform pg_advisory_xact_lock(2, v_day::integer);
  end loop;
  update ledger_seal set sealed_until = v_until where sealed_until < v_until;
  return v_until = v_now;
end;
$$;

-- Adds up to about p_limit sealed receipts to the sums and answers how many; 0 when none is left, or somebody else is
-- at it. All of it, the watermark included, is one transaction: cut off anywhere, nothing has been counted.
create function svc_count_usage(p_limit integer)
returns bigint
language plpgsql
volatile
-- Planned for its bounds each time: a plan for any bounds locks every partition there is.
set plan_cache_mode = force_custom_plan
as $$
declare
  v_from text;
  v_to text;
  v_sealed_before text;
  v_counted bigint;
begin
  select counted_before into v_from from ledger_count for update skip locked;
  if v_from is null then
    return 0;
  end if;
  select sealed_before into strict v_sealed_before from ledger_seal;
  select receipt_id
  into v_to
  from receipts
  where receipt_id >= v_from and receipt_id < v_sealed_before
  order by receipt_id
  offset p_limit
  limit 1;
  v_to := coalesce(v_to, v_sealed_before);
  if v_to <= v_from then
    return 0;
  end if;
  with
    counted as (
      select
        (evaluated_at at time zone 'UTC')::date as day,
        relying_party,
        principal,
        key_id,
        reason,
        count(*) as verifies,
        count(*) filter (where production_check) as production_checks
      from receipts
      where receipt_id >= v_from and receipt_id < v_to
      group by 1, 2, 3, 4, 5
    ),
    finest as (
      insert into usage_counts as u (day, relying_party, principal, key_id, reason, verifies)
      select day, relying_party, principal, key_id, reason, verifies from counted
      on conflict (relying_party, day, principal, key_id, reason) do update
        set verifies = u.verifies + excluded.verifies
    ),
    by_key as (
      insert into usage_by_key as u (day, relying_party, key_id, reason, verifies, production_checks)
      select day, relying_party, key_id, reason, sum(verifies), sum(production_checks)
      from counted
      group by 1, 2, 3, 4
      on conflict (relying_party, day, key_id, reason) do update
        set
          verifies = u.verifies + excluded.verifies,
          production_checks = u.production_checks + excluded.production_checks
    ),
    by_principal as (
      insert into usage_by_principal as u (day, principal, reason, verifies)
      select day, principal, reason, sum(verifies) from counted group by 1, 2, 3
      on conflict (principal, day, reason) do update set verifies = u.verifies + excluded.verifies
    ),
    monthly as (
      insert into usage_monthly as u (month, relying_party, principal, reason, verifies)
      select date_trunc('month', day)::date, relying_party, principal, reason, sum(verifies)
      from counted
      group by 1, 2, 3, 4
      on conflict (relying_party, month, principal, reason) do update
        set verifies = u.verifies + excluded.verifies
    ),
    monthly_by_principal as (
      insert into usage_monthly_by_principal as u (month, principal, reason, verifies)
      select date_trunc('month', day)::date, principal, reason, sum(verifies) from counted group by 1, 2, 3
      on conflict (month, principal, reason) do update set verifies = u.verifies + excluded.verifies
    ),
    by_grant as (
      insert into usage_by_grant as u (grant_id, principal, days)
      select grant_id, principal, days
      from
        (
          select grant_id, principal, range_agg(daterange(day, day + 1)) as days
          from
            (
              select distinct grant_id, principal, (evaluated_at at time zone 'UTC')::date as day
              from receipts
              where receipt_id >= v_from and receipt_id < v_to and grant_id is not null
            ) as named
          group by 1, 2
        ) as g
      where
        not exists (
          select
          from usage_by_grant as k
          where k.grant_id = g.grant_id and k.principal is not distinct from g.principal and k.days @> g.days
        )
      on conflict (grant_id, principal) do update set days = u.days + excluded.days
    ),
    by_day as (
      insert into usage_by_day as u (day, reason, verifies)
      select day, reason, sum(verifies) from counted group by 1, 2
      on conflict (day, reason) do update set verifies = u.verifies + excluded.verifies
    )
  select coalesce(sum(verifies), 0)
  into v_counted
  from counted;
  update ledger_count set counted_before = v_to;
  return v_counted;
end;
$$;
