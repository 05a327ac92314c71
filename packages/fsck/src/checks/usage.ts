/** Checks that the stored sums (store-pg, migrations/0001-foundation/07-usage.sql) equal a recount of the Receipts. */
import type { Check } from '../check.ts';
import { COLD_DAYS } from '../cold-days.ts';
import { ruleCheck } from './rules.ts';

/** The Receipts that are included in the sums, with the day and month by which they are grouped. */
const COUNTED = `
  select (evaluated_at at time zone 'UTC')::date as day, date_trunc('month', evaluated_at at time zone 'UTC')::date as month,
    relying_party, principal, key_id, reason, grant_id, production_check
  from receipts, ledger_count where receipt_id < counted_before`;

interface Sums {
  readonly table: string;
  /** The grouping columns of the table; the day or month comes first. */
  readonly by: string;
  /** What the table aggregates: the Receipts, or a table that has its own check. */
  readonly of: string;
}

/** Restricts sums to days whose Receipts are in the database and can be counted. */
const OF_HOT_DAYS = `where day not in (${COLD_DAYS})`;

const RECEIPTS = `(select *, 1 as verifies from (${COUNTED}) as r) as counted`;
const FINEST = `(select *, date_trunc('month', day)::date as month from usage_counts) as finest`;

const SUMS: readonly Sums[] = [
  { table: 'usage_counts', by: 'day, relying_party, principal, key_id, reason', of: RECEIPTS },
  { table: 'usage_by_key', by: 'day, relying_party, key_id, reason', of: FINEST },
  { table: 'usage_by_principal', by: 'day, principal, reason', of: FINEST },
  { table: 'usage_by_day', by: 'day, reason', of: FINEST },
  { table: 'usage_monthly', by: 'month, relying_party, principal, reason', of: FINEST },
  { table: 'usage_monthly_by_principal', by: 'month, principal, reason', of: FINEST },
];

/** Grouping, unlike a join, treats nulls as equal. */
const sumCheck = ({ table, by, of }: Sums): Check =>
  ruleCheck({
    name: table.replaceAll('_', ' '),
    promise: 'the stored sums are what counting again gives',
    countSql: `select count(*) from ${table}`,
    faultSql: `
      select ${by.split(',', 1)[0]}::text as "where",
        'stored are ' || sum(stored) || ', counted ' || sum(counted) || ': ' || concat_ws(', ', ${by}) as problem
      from (
        select ${by}, verifies as stored, 0 as counted from ${table} ${of === RECEIPTS ? OF_HOT_DAYS : ''}
        union all select ${by}, 0, verifies from ${of}
      ) as both_ways
      group by ${by} having sum(stored) <> sum(counted)`,
  });

export const usageChecks: readonly Check[] = [
  ...SUMS.map(sumCheck),
  ruleCheck({
    name: 'production checks',
    promise: 'the stored numbers of production checks are what counting the Receipts gives',
    countSql: 'select count(*) from usage_by_key',
    faultSql: `
      select day::text as "where", 'stored are ' || sum(stored) || ', counted ' || sum(counted) || ': '
        || concat_ws(', ', relying_party, key_id, reason) as problem
      from (
        select day, relying_party, key_id, reason, production_checks as stored, 0 as counted from usage_by_key ${OF_HOT_DAYS}
        union all select day, relying_party, key_id, reason, 0, 1 from (${COUNTED}) as r where production_check
      ) as both_ways
      group by day, relying_party, key_id, reason having sum(stored) <> sum(counted)`,
  }),
  ruleCheck({
    name: 'days of Grants',
    promise: 'the days on which decisions named a Grant are those of its Receipts',
    countSql: 'select count(*) from usage_by_grant',
    faultSql: `
      with named as (
        select grant_id, principal, range_agg(daterange(day, day + 1)) as days
        from (select distinct grant_id, principal, day from (${COUNTED}) as r where grant_id is not null) as d
        group by grant_id, principal
      ), stored as (
        select grant_id, principal, days - c.cold as days
        from usage_by_grant, (
          select coalesce(range_agg(daterange(day, day + 1)), '{}') as cold from (${COLD_DAYS}) as d
        ) as c
        where not isempty(days - c.cold)
      )
      select coalesce(n.grant_id, u.grant_id) as "where",
        'stored are the days ' || coalesce(u.days, '{}') || ', counted ' || coalesce(n.days, '{}') as problem
      from named n full join stored u
        on n.grant_id = u.grant_id and n.principal is not distinct from u.principal
      where n.days is distinct from u.days`,
  }),
];
