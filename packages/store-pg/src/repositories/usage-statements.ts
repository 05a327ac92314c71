/**
 * Builds the statements that count decisions, for the columns and filter asked for. Each adds up stored sums and
 * receipts.
 */
import { DAY_MS, dayOf } from '@svc/protocol';
import type { ApartTenants, DecisionFilter, FigureFilter } from '@svc/service';
import type { CountedColumn, CountedRows, MsRange } from '../cold/count-days.ts';
import { Conditions } from '../conditions.ts';
import { type DailySums, dailySumsOf } from '../daily-sums.ts';
import { lowestReceiptId } from '../receipt-ids.ts';
import type { Statement } from '../statement.ts';

/** One row for each day and reason. */
export function dayStatement(filter: DecisionFilter, counted: Counted): Statement {
  const parameters = new Conditions();
  const sums: Sums = { table: dailySumsOf(filter), columns: COUNTED_BY.day };
  const text = `select day::text, reason, sum(verifies)::bigint as verifies
    from (${countsSql(sums, filter, counted, parameters)}) as part group by day, reason`;
  return { text, values: parameters.values };
}

/** What the statement needs beside the filter. */
export interface Counted {
  /** The value of `counted_before` that was read before the statement: see `usageRepository`. */
  readonly before: string;
  /** Counts of those partly covered days that are cold, so that the database no longer has their receipts. */
  readonly coldCounts: readonly CountedRows[];
}

/** A table of stored sums, and the columns to group by, which the receipts have too. */
export interface Sums {
  readonly table: DailySums;
  /** The table of the same sums by whole months, for groupings without the day. */
  readonly monthly?: 'usage_monthly' | 'usage_monthly_by_principal';
  readonly columns: readonly CountedColumn[];
}

/** Columns that each question groups by. */
export const COUNTED_BY = {
  day: ['day', 'reason'],
  key: ['day', 'key_id', 'reason'],
  principal: ['principal', 'reason'],
} as const satisfies Record<string, readonly CountedColumn[]>;

const principalSums = ({ relyingParties }: Pick<DecisionFilter, 'relyingParties'>): Sums => ({
  columns: COUNTED_BY.principal,
  ...(relyingParties === null
    ? { table: 'usage_by_principal', monthly: 'usage_monthly_by_principal' }
    : { table: 'usage_counts', monthly: 'usage_monthly' }),
});

const UNVERIFIED = 'ISSUER_UNVERIFIED';

/**
 * Statistics name a Principal only where check T2 passed too (interface §DecisionStats). Its own usage does not need
 * that.
 */
const STATED_PRINCIPAL = `case when reason is distinct from '${UNVERIFIED}' then principal end`;

/**
 * Everything that is counted for each Principal. A correction has the Receipt of what it corrects, so one filter finds
 * both. Each Receipt with an outcome has exactly one row with `ordinal` 1.
 */
export function figuresStatement(
  { withUnverified = false, ...filter }: FigureFilter,
  counted: Counted,
): Statement {
  const parameters = new Conditions();
  const isNarrowed = filter.principal !== undefined && !withUnverified;
  const counts = countsSql(principalSums(filter), filter, counted, parameters);
  const since = parameters.parameter(filter.sinceMs);
  const until = parameters.parameter(filter.untilMs);
  const reported = [
    `evaluated_at >= to_timestamp(${since} / 1000.0) and evaluated_at < to_timestamp(${until} / 1000.0)`,
    ...conditionsOf(filter, parameters),
  ].join(' and ');
  const text = `
    with outcome as (
      select ${withUnverified ? 'principal' : 'case when not issuer_unverified then principal end'} as principal, type, currency,
        count(*) filter (where corrected is null) as in_force,
        sum(loss_amount) filter (where corrected is null and type = 'loss_reported') as loss,
        count(*) filter (where ordinal = 1 and decision = 'ALLOW') as allows
      from attestations left join (
        select correction_of as corrected from attestations where correction_of is not null and ${reported}
      ) as correction on corrected = attestation_id
      where ${reported}${isNarrowed ? ' and not issuer_unverified' : ''}
      group by 1, type, currency
    )
    select ${withUnverified ? 'principal' : STATED_PRINCIPAL} as principal, 'verifies' as figure, reason as name, sum(verifies)::bigint as amount
    from (${counts}) as part
    ${isNarrowed ? `where reason is distinct from '${UNVERIFIED}'` : ''}
    group by 1, reason
    union all
    select principal, 'outcomes', type, sum(in_force)::bigint
    from outcome where in_force > 0 group by principal, type
    union all
    select principal, 'losses', currency, least(loss, ${Number.MAX_SAFE_INTEGER})::bigint
    from outcome where loss is not null
    union all
    select principal, 'allowWithOutcome', null, sum(allows)::bigint
    from outcome where allows > 0 group by principal`;
  return { text, values: parameters.values };
}

/** All decisions by day and reason, except those of relying parties that belong to these tenants. */
export function totalStatement({ orgs, subjects }: ApartTenants, countedBefore: string): Statement {
  const text = `
    with apart as (select did from relying_parties where org_id = any ($1::text[]) or did = any ($2::text[]))
    select day::text, reason, sum(verifies)::bigint as verifies from (
      select day, reason, verifies from usage_by_day
      union all
      select day, reason, -verifies from usage_by_key where relying_party in (select did from apart)
      union all
      select ${DAY}, reason, count(*) from receipts
      where receipt_id >= $3 and ${UNCOUNTED} and relying_party not in (select did from apart)
      group by 1, 2
    ) as part group by day, reason having sum(verifies) > 0`;
  return { text, values: [orgs, subjects, countedBefore] };
}

const DAY = `(evaluated_at at time zone 'UTC')::date`;
const UNCOUNTED = 'receipt_id >= (select counted_before from ledger_count)';

/**
 * Rows to add up, in the columns of `sums`: the sums of whole days, the receipts of these days that are not in the sums
 * yet, and all receipts of days that the range covers in part.
 */
export function countsSql(
  sums: Sums,
  { sinceMs, untilMs, ...filter }: DecisionFilter,
  { before: countedBefore, coldCounts }: Counted,
  parameters: Conditions,
): string {
  const cold = coldSql(sums, coldCounts, parameters);
  const conditions = conditionsOf(filter, parameters);
  const receipts = (from: string, to: string, ...more: string[]) => {
    // The receipts' index of Principals is on the hash.
    const indexed = new Conditions(parameters.values).add(
      'hashtext(principal) = hashtext(?)',
      filter.principal,
    );
    return receiptsSql(sums, [from, to], [...conditions, ...indexed.list, ...more], parameters);
  };
  const { whole, partial } = splitDays({ sinceMs, untilMs });
  const parts = [...cold];
  if (whole !== null) {
    const [wholeFrom, wholeTo] = [lowestReceiptId(whole[0]), lowestReceiptId(whole[1])];
    const uncountedFrom = countedBefore > wholeFrom ? countedBefore : wholeFrom;
    parts.push(...storedSql(sums, whole, conditions, parameters));
    if (uncountedFrom < wholeTo) parts.push(receipts(uncountedFrom, wholeTo, UNCOUNTED));
  }
  for (const [fromMs, toMs] of partial) parts.push(receipts(lowestReceiptId(fromMs), lowestReceiptId(toMs)));
  return parts.join('\n      union all\n      ');
}

/** The whole days in the range, and the ranges within days that it covers in part. */
export function splitDays({ sinceMs, untilMs }: Pick<DecisionFilter, 'sinceMs' | 'untilMs'>): {
  readonly whole: MsRange | null;
  readonly partial: readonly MsRange[];
} {
  const fromMs = Math.ceil(sinceMs / DAY_MS) * DAY_MS;
  const toMs = Math.floor(untilMs / DAY_MS) * DAY_MS;
  if (fromMs >= toMs) return { whole: null, partial: [[sinceMs, untilMs]] };
  const partial: MsRange[] = [
    [sinceMs, fromMs],
    [toMs, untilMs],
  ];
  return { whole: [fromMs, toMs], partial: partial.filter(([from, to]) => from < to) };
}

/** The given counts as a part of the statement, in these columns; an empty list where there are none. */
function coldSql({ columns }: Sums, given: readonly CountedRows[], parameters: Conditions): string[] {
  if (given.length === 0) return [];
  return [
    `select ${columns.join(', ')}, verifies from json_to_recordset(${parameters.parameter(JSON.stringify(given))}::json)
      as cold (day date, key_id text collate "C", principal text collate "C", reason text, verifies bigint)`,
  ];
}

/** Whole months come from the monthly table, the days before and after them from the daily one. */
function storedSql(
  { table, monthly, columns }: Sums,
  [fromMs, toMs]: readonly [number, number],
  conditions: readonly string[],
  parameters: Conditions,
): string[] {
  const part = (source: string, column: string, from: number, to: number): string[] => {
    if (from >= to) return [];
    const bounds = [
      `${column} >= ${parameters.parameter(dateOf(from))}`,
      `${column} < ${parameters.parameter(dateOf(to))}`,
    ];
    return [
      `select ${columns.join(', ')}, verifies from ${source} where ${[...bounds, ...conditions].join(' and ')}`,
    ];
  };
  const [monthsFromMs, monthsToMs] = [startOfMonth(fromMs, 'next'), startOfMonth(toMs, 'same')];
  if (monthly === undefined || monthsFromMs >= monthsToMs) return part(table, 'day', fromMs, toMs);
  return [
    ...part(table, 'day', fromMs, monthsFromMs),
    ...part(monthly, 'month', monthsFromMs, monthsToMs),
    ...part(table, 'day', monthsToMs, toMs),
  ];
}

/** Start of the month of an instant (`same`), or the first start of a month at or after it (`next`). */
function startOfMonth(ms: number, which: 'same' | 'next'): number {
  const date = new Date(ms);
  const startMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return which === 'same' || startMs === ms
    ? startMs
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

function receiptsSql(
  { columns }: Sums,
  [from, to]: readonly [string, string],
  conditions: readonly string[],
  parameters: Conditions,
): string {
  const ids = [`receipt_id >= ${parameters.parameter(from)}`, `receipt_id < ${parameters.parameter(to)}`];
  const values = columns.map((name) => (name === 'day' ? `${DAY} as day` : name));
  return `select ${values.join(', ')}, count(*) as verifies from receipts
      where ${[...ids, ...conditions].join(' and ')} group by ${columns.map((_, index) => index + 1).join(', ')}`;
}

/** Conditions on columns that have the same names in sums, receipts and attestations. */
const conditionsOf = (
  { relyingParties, principal, keyId }: Partial<DecisionFilter>,
  { values }: Conditions,
): readonly string[] =>
  new Conditions(values)
    .add('relying_party = any (?::text[])', relyingParties)
    .add('principal = ?', principal)
    .add('key_id = ?', keyId).list;

/** No decision is from before 1970, and PostgreSQL has no dates of the year 0. */
const dateOf = (ms: number): string => dayOf(Math.max(ms, 0));
