/** Which parts of the ledger a search reads, newest first. What is left out holds nothing that it looks for. */
import type { Database } from '../database.ts';
import { dayNumberOf, firstIdOfDay, higherId, lowerId } from '../receipt-ids.ts';
import { type DayCount, dayCountsStatement } from './day-counts.ts';
import type { Search } from './search.ts';

/** Receipt ids from `from` (inclusive) to `before` (exclusive); none where `from` is not lower. */
export interface Range {
  readonly from: string;
  readonly before: string;
}

/** A part of a span, of one day where the day is known. */
export interface Part extends Range {
  /** Counted from 1970-01-01. */
  readonly day?: number;
}

export interface Span {
  /** Apart from each other, the highest first. */
  readonly parts: readonly Part[];
  /**
   * How many of its receipts are looked for. Of few, all are gathered; of many, enough are met on the way down; where it
   * is not known, the planner weighs one against the other. Of one day that is cold, its objects are read.
   */
  readonly density: 'few' | 'many' | 'unknown' | 'cold';
}

/** More partitions than this are never planned or locked by one statement. */
export const MAX_DAYS = 31;
/** A day that has more than this many of what is looked for is walked through. */
const SPARSE_VERIFIES = 1_000;

/** The whole range, a month at a time, for where nothing has been counted. */
export function* everyMonth({ from, before }: Range): Generator<Span> {
  for (let end = before; from < end; ) {
    const start = higherId(from, firstIdOfDay(lastDayOf(end) + 1 - MAX_DAYS));
    yield { parts: [{ from: start, before: end }], density: 'unknown' };
    end = start;
  }
}

/**
 * Days that hold any, as many at a time as fill the page, and each cold one by itself. `lacking` tells how many ids that takes.
 */
export async function* daysWithAny(
  database: Database,
  search: Search,
  { range, coldDays }: { readonly range: Range; readonly coldDays: ReadonlySet<number> },
  lacking: () => number,
): AsyncGenerator<Span> {
  let group: DayCount[] = [];
  let verifies = 0;
  for await (const day of countedDays(database, search, range)) {
    const isCold = coldDays.has(day.number);
    // A day that is walked through stands alone: the walk would read the others to their ends.
    const endsGroup = verifies >= lacking() || group.length === MAX_DAYS || isDense(day, search) || isCold;
    if (group.length > 0 && endsGroup) {
      yield spanOf(group, range, search);
      group = [];
      verifies = 0;
    }
    if (isCold) {
      yield { ...spanOf([day], range, search), density: 'cold' };
      continue;
    }
    group.push(day);
    verifies += isDense(day, search) ? Number.POSITIVE_INFINITY : day.verifies;
  }
  if (group.length > 0) yield spanOf(group, range, search);
}

/** Days of the range with their counts, newest first. Of the days at its ends all is counted, in the range or not. */
async function* countedDays(
  database: Database,
  search: Search,
  { from, before }: Range,
): AsyncGenerator<DayCount> {
  if (from >= before) return;
  const oldest = dayNumberOf(from);
  // Most pages are full after the newest days.
  let length = 8;
  for (let last = lastDayOf(before); last >= oldest; length = 400) {
    const first = Math.max(oldest, last + 1 - length);
    yield* await database.read<DayCount>(dayCountsStatement(search, first, last));
    last = first - 1;
  }
}

const spanOf = (days: readonly DayCount[], range: Range, search: Search): Span => ({
  parts: days.map(({ number }) => ({
    day: number,
    from: higherId(range.from, firstIdOfDay(number)),
    before: lowerId(range.before, firstIdOfDay(number + 1)),
  })),
  density: densityOf(days, search),
});

/** How many matches to expect. A Grant has at most what its Principal has; no more is known of it. */
const densityOf = (days: readonly DayCount[], search: Search): Span['density'] => {
  if (isInOrder(search)) return 'many';
  if (!days.some((day) => isDense(day, search))) return 'few';
  return search.grantId === undefined ? 'many' : 'unknown';
};

const isDense = ({ verifies }: DayCount, search: Search): boolean =>
  verifies > SPARSE_VERIFIES && !isInOrder(search);

/** An index gives exactly what is looked for in its order, so there is nothing to gather. */
const isInOrder = ({ relyingParties, principal, keyId, grantId, reason, decision }: Search): boolean =>
  (relyingParties === null || relyingParties.length === 1) &&
  [principal, keyId, grantId, reason, decision].every((one) => one === undefined);

/** The day of the highest id that may be below `before`. */
const lastDayOf = (before: string): number => {
  const day = dayNumberOf(before);
  return before === firstIdOfDay(day) ? day - 1 : day;
};
