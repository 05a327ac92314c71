/**
 * Counts Receipts in a part of a cold day. Whole days are in the stored sums, which stay; a part of a day is counted
 * anew.
 */
import type { Sha256 } from '@svc/protocol';
import { DAY_MS, dayOf } from '@svc/protocol';
import { type Day, type DecisionFilter, TooManyCountsError } from '@svc/service';
import { Conditions } from '../conditions.ts';
import { dailySumsOf } from '../daily-sums.ts';
import type { Database } from '../database.ts';
import { higherId, idsOfDay, lowerId, lowestReceiptId } from '../receipt-ids.ts';
import { DayMovedError } from './cold-errors.ts';
import { findColdDays, type Question } from './cold-reader.ts';
import { rowConditions } from './row-conditions.ts';

/** Instants from the first (inclusive) to the second (exclusive). */
export type MsRange = readonly [fromMs: number, toMs: number];

/** Columns by which decisions can be counted. */
export type CountedColumn = 'day' | 'principal' | 'key_id' | 'reason';

/** Number of decisions with the same values in the columns asked for; other columns are absent. */
export type CountedRows = Readonly<Partial<Record<CountedColumn, string | null>>> & {
  readonly verifies: number;
};

/** The filter of a count: one tenant or all. */
export type CountedFilter = Pick<DecisionFilter, 'relyingParties' | 'principal' | 'keyId'>;

/** What to count in parts of days. */
export interface Counting {
  readonly filter: CountedFilter;
  readonly columns: readonly CountedColumn[];
  readonly ranges: readonly MsRange[];
  /** Default 100,000. All groups are in memory at once, and are one parameter of a statement. */
  readonly maxGroups?: number;
}

const MAX_GROUPS = 100_000;

/** Days that any of these ranges touches; each range touches two days at most. */
const daysOf = (ranges: readonly MsRange[]): Day[] => {
  const days = new Set<Day>();
  for (const [fromMs, toMs] of ranges)
    for (let ms = Math.floor(Math.max(fromMs, 0) / DAY_MS) * DAY_MS; ms < toMs; ms += DAY_MS)
      days.add(dayOf(ms));
  return [...days];
};

const isSame = (a: ReadonlyMap<Day, Sha256>, b: ReadonlyMap<Day, Sha256>): boolean =>
  a.size === b.size && [...a].every(([day, hash]) => b.get(day) === hash);

/**
 * Runs `work`, which counts in the database, and gives it the counts of the cold days among the ranges. So each day is
 * counted in exactly one place. Rejects with an error that `againIfMoved` retries where a day moved meanwhile, and with
 * `TooManyCountsError` where there are too many groups. There are about two days to count, at the ends of the range; at
 * most one row group of them is in memory at a time.
 */
export const withColdCounts = async <T>(
  question: Question,
  counting: Counting,
  work: (counts: readonly CountedRows[]) => Promise<T>,
): Promise<T> => {
  const { filter, ranges } = counting;
  const days = daysOf(ranges);
  if (days.length === 0) return work([]);
  const hashes = await findColdDays(question.database, days);
  const counted = await daysWithAny(question.database, filter, [...hashes.keys()]);
  const counts = new Counts(counting);
  for (const [day, hash] of hashes)
    for (const range of counted.has(day) ? ranges : [])
      await countPart(question, { day, hash, range }, counting, counts);
  const done = await work(counts.rows);
  if (!isSame(hashes, await findColdDays(question.database, days))) throw new DayMovedError();
  return done;
};

interface DayPart {
  readonly day: Day;
  readonly hash: Sha256;
  readonly range: MsRange;
}

const countPart = async (
  question: Question,
  { day, hash, range: [fromMs, toMs] }: DayPart,
  { filter, columns }: Counting,
  counts: Counts,
): Promise<void> => {
  const [firstId, endId] = idsOfDay(day);
  const from = higherId(firstId, lowestReceiptId(fromMs));
  const before = lowerId(endId, lowestReceiptId(toMs));
  if (from >= before) return;
  const scan = {
    ...{ columns: columns.filter((column) => column !== 'day'), where: rowConditions(filter) },
    ...{ from, before, isDescending: false },
  };
  await question.cold.read(question, { day, hash }, async (reader, signal) => {
    for await (const { rows } of reader.scan(scan, signal)) for (const row of rows) counts.add(day, row);
  });
};

class Counts {
  readonly #counting: Counting;
  readonly #rows = new Map<string, Writable<CountedRows>>();

  constructor(counting: Counting) {
    this.#counting = counting;
  }

  get rows(): readonly CountedRows[] {
    return [...this.#rows.values()];
  }

  add(day: Day, row: Omit<CountedRows, 'day' | 'verifies'>): void {
    const { columns, maxGroups = MAX_GROUPS } = this.#counting;
    const values = columns.map((column) => (column === 'day' ? day : (row[column] ?? null)));
    const name = JSON.stringify(values);
    const count = this.#rows.get(name);
    if (count !== undefined) {
      count.verifies += 1;
      return;
    }
    if (this.#rows.size === maxGroups) throw new TooManyCountsError(maxGroups);
    const group = Object.fromEntries(columns.map((column, i) => [column, values[i]]));
    this.#rows.set(name, { ...group, verifies: 1 });
  }
}

/** Days with a matching stored sum. A day is counted before it is packed, so on other days there is nothing to read. */
const daysWithAny = async (
  database: Database,
  filter: CountedFilter,
  days: readonly Day[],
): Promise<ReadonlySet<Day>> => {
  if (days.length === 0) return new Set();
  const where = new Conditions()
    .add('day = any (?::date[])', days)
    .add('relying_party = any (?::text[])', filter.relyingParties)
    .add('principal = ?', filter.principal)
    .add('key_id = ?', filter.keyId);
  const text = `select distinct day::text as day from ${dailySumsOf(filter)} where ${where.text}`;
  return new Set((await database.read<{ day: Day }>({ text, values: where.values })).map(({ day }) => day));
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
