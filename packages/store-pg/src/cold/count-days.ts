/** Counts of what lies in a part of a cold day. Whole days are in the stored sums, which stay; a part of one is counted anew. */
import type { Sha256 } from '@svc/protocol';
import type { Day } from '@svc/service';
import type { Database } from '../database.ts';
import { DAY_MS, higherId, lowerId, lowestReceiptId } from '../receipt-ids.ts';
import { type ColdReader, DayMovedError, findColdDays } from './cold-reader.ts';

/** Instants from the first (inclusive) to the second (exclusive). */
export type MsRange = readonly [fromMs: number, toMs: number];

export interface CountedRow {
  readonly day: Day;
  readonly relying_party: string;
  readonly principal: string | null;
  readonly key_id: string | null;
  readonly reason: string | null;
}

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
 * Runs `work`, which counts in the database, with the rows of those days among the ranges that are cold: each is counted here or
 * there. Rejects with what `againIfMoved` repeats where one has moved meanwhile. Days are some two, at the ends of what is asked for.
 */
export const withColdRows = async <T>(
  { database, cold }: { readonly database: Database; readonly cold: ColdReader },
  ranges: readonly MsRange[],
  work: (rows: readonly CountedRow[]) => Promise<T>,
): Promise<T> => {
  const days = daysOf(ranges);
  if (days.length === 0) return work([]);
  const hashes = await findColdDays(database, days);
  const rows: CountedRow[] = [];
  for (const [day, hash] of hashes)
    for (const [fromMs, toMs] of ranges) {
      const startMs = Date.parse(`${day}T00:00:00Z`);
      const from = higherId(lowestReceiptId(startMs), lowestReceiptId(fromMs));
      const before = lowerId(lowestReceiptId(startMs + DAY_MS), lowestReceiptId(toMs));
      if (from >= before) continue;
      await cold.read(database, hash, async (reader, signal) => {
        for await (const found of reader.scan(
          { columns: COLUMNS, from, before, isDescending: false },
          signal,
        ))
          for (const row of found) rows.push({ day, ...row });
      });
    }
  const done = await work(rows);
  if (!isSame(hashes, await findColdDays(database, days))) throw new DayMovedError();
  return done;
};
