/** Selects the parts of the ledger that a search reads, newest first. The parts left out hold no match. */
import type { Database } from '../database.ts';
import { dayNumberOf, firstIdOfDay, higherId, lowerId } from '../receipt-ids.ts';
import { type DayCount, dayCountsStatement } from './day-counts.ts';
import type { Search } from './search.ts';

/** Receipt ids from `from` (inclusive) to `before` (exclusive); empty unless `from` is lower. */
export interface Range {
  readonly from: string;
  readonly before: string;
}

/** A part of a span; of a single day where `day` is given. */
export interface Part extends Range {
  /** Counted from 1970-01-01. */
  readonly day?: number;
}

export interface Span {
  /** Disjoint, the highest first. */
  readonly parts: readonly Part[];
  /**
   * How many matches the span is expected to have. `few`: the statement gathers all of them. `many`: a descending walk
   * meets enough of them. `unknown`: the planner chooses between the two. `cold`: the span is one cold day, read from
   * its objects.
   */
  readonly density: 'few' | 'many' | 'unknown' | 'cold';
}

/** Most partitions that one statement plans or locks. */
export const MAX_DAYS = 31;
/** A day with more matches than this is read by a descending walk. */
const SPARSE_VERIFIES = 1_000;

/** The whole range, 31 days at a time, for receipts that are not counted yet. */
export function* everyMonth({ from, before }: Range): Generator<Span> {
  for (let end = before; from < end; ) {
    const start = higherId(from, firstIdOfDay(lastDayOf(end) + 1 - MAX_DAYS));
    yield { parts: [{ from: start, before: end }], density: 'unknown' };
    end = start;
  }
}

/**
 * Days with matches, grouped so that a group can fill the page; each cold day by itself. `lacking` tells how many ids
 * the page still needs.
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
    // A day that is read by a walk is a span of its own: in a group, the walk would read the other days to their ends.
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

/**
 * Days of the range with their counts, newest first. The counts of the first and last day cover the whole day, also
 * outside the range.
 */
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

/** How many matches to expect. For a Grant, only its Principal's count is stored, which is an upper bound. */
const densityOf = (days: readonly DayCount[], search: Search): Span['density'] => {
  if (isInOrder(search)) return 'many';
  if (!days.some((day) => isDense(day, search))) return 'few';
  return search.grantId === undefined ? 'many' : 'unknown';
};

const isDense = ({ verifies }: DayCount, search: Search): boolean =>
  verifies > SPARSE_VERIFIES && !isInOrder(search);

/** Whether an index yields the matches in order, so that none need to be gathered. */
const isInOrder = ({ relyingParties, principal, keyId, grantId, reason, decision }: Search): boolean =>
  (relyingParties === null || relyingParties.length === 1) &&
  [principal, keyId, grantId, reason, decision].every((one) => one === undefined);

/** The day of the highest possible id below `before`. */
const lastDayOf = (before: string): number => {
  const day = dayNumberOf(before);
  return before === firstIdOfDay(day) ? day - 1 : day;
};
