/** Counts of what lies in a part of a cold day. Whole days are in the stored sums, which stay; a part of one is counted anew. */
import type { DidWeb, Sha256 } from '@svc/protocol';
import type { Day, DecisionFilter } from '@svc/service';
import { Conditions } from '../conditions.ts';
import { dailySumsOf } from '../daily-sums.ts';
import type { Database } from '../database.ts';
import { DAY_MS, higherId, lowerId, lowestReceiptId } from '../receipt-ids.ts';
import { DayMovedError } from './cold-errors.ts';
import { findColdDays, type Question } from './cold-reader.ts';

/** Instants from the first (inclusive) to the second (exclusive). */
export type MsRange = readonly [fromMs: number, toMs: number];

/** Decisions of a day that have all of this in common. */
export interface CountedRows {
  readonly day: Day;
  readonly relying_party: string;
  readonly principal: string | null;
  readonly key_id: string | null;
  readonly reason: string | null;
  readonly verifies: number;
}

/** Of one tenant or of all. */
export type CountedFilter = Pick<DecisionFilter, 'relyingParties' | 'principal' | 'keyId'>;

const COLUMNS = ['relying_party', 'principal', 'key_id', 'reason'] as const;

/** Days that any of these ranges has a part of; each is of two days at most. */
const daysOf = (ranges: readonly MsRange[]): Day[] => {
  const days = new Set<Day>();
  for (const [fromMs, toMs] of ranges)
    for (let ms = Math.floor(Math.max(fromMs, 0) / DAY_MS) * DAY_MS; ms < toMs; ms += DAY_MS)
      days.add(new Date(ms).toISOString().slice(0, 10));
  return [...days];
};

const isSame = (a: ReadonlyMap<Day, Sha256>, b: ReadonlyMap<Day, Sha256>): boolean =>
  a.size === b.size && [...a].every(([day, hash]) => b.get(day) === hash);

/**
 * Runs `work`, which counts in the database, with the counts of those days among the ranges that are cold: each is counted here or
 * there. Rejects with what `againIfMoved` repeats where one has moved meanwhile. Days are some two, at the ends of what is asked for;
 * of their rows no more than a group is held at a time.
 */
export const withColdCounts = async <T>(
  question: Question,
  filter: CountedFilter,
  ranges: readonly MsRange[],
  work: (counts: readonly CountedRows[]) => Promise<T>,
): Promise<T> => {
  const days = daysOf(ranges);
  if (days.length === 0) return work([]);
  const hashes = await findColdDays(question.database, days);
  const counted = await daysWithAny(question.database, filter, [...hashes.keys()]);
  const counts = new Map<string, Writable<CountedRows>>();
  const isAsked = matcherOf(filter);
  for (const [day, hash] of hashes)
    for (const [fromMs, toMs] of counted.has(day) ? ranges : []) {
      const startMs = Date.parse(`${day}T00:00:00Z`);
      const from = higherId(lowestReceiptId(startMs), lowestReceiptId(fromMs));
      const before = lowerId(lowestReceiptId(startMs + DAY_MS), lowestReceiptId(toMs));
      if (from >= before) continue;
      await question.cold.read(question, hash, async (reader, signal) => {
        for await (const { rows: found } of reader.scan(
          { columns: COLUMNS, from, before, isDescending: false },
          signal,
        ))
          for (const row of found) {
            if (!isAsked(row)) continue;
            const { relying_party, principal, key_id, reason } = row;
            const name = JSON.stringify([day, relying_party, principal, key_id, reason]);
            const count = counts.get(name);
            if (count === undefined)
              counts.set(name, { day, relying_party, principal, key_id, reason, verifies: 1 });
            else count.verifies += 1;
          }
      });
    }
  const done = await work([...counts.values()]);
  if (!isSame(hashes, await findColdDays(question.database, days))) throw new DayMovedError();
  return done;
};

/** Those of which the stored sums have anything: a day is counted before it is packed, so in others there is nothing to read. */
const daysWithAny = async (
  database: Database,
  filter: CountedFilter,
  days: readonly Day[],
): Promise<ReadonlySet<Day>> => {
  if (days.length === 0) return new Set();
  const where = new Conditions()
    .add('day = any (?::date[])', days)
    .add('relying_party = any (?::text[])', filter.relyingParties ?? undefined)
    .add('principal = ?', filter.principal)
    .add('key_id = ?', filter.keyId);
  const text = `select distinct day::text as day from ${dailySumsOf(filter)} where ${where.text}`;
  return new Set((await database.read<{ day: Day }>({ text, values: where.values })).map(({ day }) => day));
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

const matcherOf = ({ relyingParties, principal, keyId }: CountedFilter) => {
  const parties = relyingParties === null ? null : new Set(relyingParties);
  return (row: Omit<CountedRows, 'day' | 'verifies'>): boolean =>
    (parties === null || parties.has(row.relying_party as DidWeb)) &&
    (principal === undefined || row.principal === principal) &&
    (keyId === undefined || row.key_id === keyId);
};
