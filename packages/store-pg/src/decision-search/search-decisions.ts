/**
 * Finds one page of decisions by filter, newest first, in time that does not depend on how many are stored
 * (docs/decisions/0014-decision-search.md).
 *
 * The search reads the ledger in spans, newest first, until the page is full. Where receipts have been counted, the
 * stored sums tell which days hold matches of the filter, and how many; other days are never read. A statement covers a
 * few days and never all: one statement over every partition would lock all of them, in a lock table shared with the
 * commits.
 *
 * Spans are read one after the other and need no common snapshot. Below `counted_before` (see
 * migrations/0001-foundation/07-usage.sql) no receipt can be stored any more and the sums are complete. The search
 * reads `counted_before` first, so it may be too low by the time the rest is read, and never too high. The part above
 * it is read next, so the search finds everything that was stored when it began.
 *
 * Cold days are all counted (`svc_detach_day`), and no statement names their partitions. Where a day has moved since
 * the search began, a statement fails because a name is gone, or the day's manifest is not found; the search then
 * begins anew. Cold days have no index but that of ids, so rare matches may take long to find in them. A page therefore
 * ends when its time is over, and the next page goes on from there.
 */
import type { DidWeb, GrantId, ReceiptId } from '@svc/protocol';
import { type DecisionListFilter, type DecisionPage, StoreError } from '@svc/service';
import { againIfMoved, type Ledger, type Question, ReadTime } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { firstIdOfDay, higherId, lowerId, lowestReceiptId } from '../receipt-ids.ts';
import { type FoundRows, type Shape, searchColdDay } from './cold-days.ts';
import type { Search } from './search.ts';
import { daysWithAny, everyMonth, type Range, type Span } from './spans.ts';
import { spanStatement } from './statements.ts';

export interface RowWithId {
  readonly receiptId: ReceiptId;
}

/** The newest `limit` rows of the filter that are in the database, or all if there are fewer. Reads no object. */
export const searchHotDays = async <Row extends RowWithId>(
  ledger: Ledger,
  filter: DecisionListFilter,
  shape: Shape<Row>,
  limit: number,
): Promise<readonly Row[]> => (await search(ledger, filter, shape, limit, 'hot days')).rows;

/**
 * The newest `limit` rows of all days. A page ends early when its time in cold days is over: it then has fewer rows,
 * and says where the next page begins.
 */
export const searchPage = async <Row extends RowWithId>(
  ledger: Ledger,
  filter: DecisionListFilter,
  shape: Shape<Row>,
  limit: number,
): Promise<DecisionPage<Row>> => {
  const { rows, readFrom } = await search(ledger, filter, shape, limit, 'all days');
  return { items: rows, unreadBefore: rows.length === limit ? null : (readFrom as ReceiptId | null) };
};

type Reach = 'all days' | 'hot days';

const search = async <Row extends RowWithId>(
  ledger: Ledger,
  filter: DecisionListFilter,
  shape: Shape<Row>,
  limit: number,
  reach: Reach,
): Promise<FoundRows<Row>> =>
  filter.relyingParties?.length === 0
    ? { rows: [], readFrom: null }
    : againIfMoved(
        ledger,
        (question) => searchOnce(question, filter, shape, limit, reach),
        reach === 'all days' ? ledger.cold.pageMs : null,
      );

async function searchOnce<Row extends RowWithId>(
  question: Question,
  filter: DecisionListFilter,
  shape: Shape<Row>,
  limit: number,
  reach: Reach,
): Promise<FoundRows<Row>> {
  const { database } = question;
  const read: ReadSpan<Row> = async (search, span, most) => {
    const [part] = span.parts;
    if (span.density === 'cold' && reach === 'hot days') return { rows: [], readFrom: null };
    if (span.density === 'cold' && part?.day !== undefined)
      return searchColdDay(question, search, { ...part, day: part.day }, shape, most);
    return { rows: await database.read<Row>(spanStatement(search, span, shape.sql, most)), readFrom: null };
  };
  const { uncounted, counted, coldDays } = await findRanges(database, filter);
  const { rows: newest } = await readSpans(read, filter, () => everyMonth(uncounted), limit);
  const missing = limit - newest.length;
  if (missing === 0) return { rows: newest, readFrom: null };

  const older: FoundRows<Row>[] = [];
  for (const search of await searchesOfCounted(database, filter)) {
    const days = (lacking: () => number) =>
      daysWithAny(database, search, { range: counted, coldDays }, lacking);
    older.push(await readSpans(read, search, days, missing, question.time));
  }
  const { rows, readFrom } = merge(older);
  return { rows: [...newest, ...rows.slice(0, missing)], readFrom };
}

/**
 * Each list is in order, and no receipt is in two lists. Where a list ended early, rows of other lists below that point
 * are dropped, because the ended list may hold rows between them. The next page finds all of these again.
 */
const merge = <Row extends RowWithId>(all: readonly FoundRows<Row>[]): FoundRows<Row> => {
  const ends = all.flatMap(({ readFrom }) => (readFrom === null ? [] : [readFrom]));
  const readFrom = ends.length === 0 ? null : ends.reduce(higherId);
  const rows = all
    .flatMap((one) => one.rows)
    .filter(({ receiptId }) => readFrom === null || receiptId >= readFrom);
  return { rows: all.length === 1 ? rows : rows.sort(byDescendingId), readFrom };
};

export const byDescendingId = (a: RowWithId, b: RowWithId): number => (a.receiptId > b.receiptId ? -1 : 1);

type ReadSpan<Row> = (search: Search, span: Span, limit: number) => Promise<FoundRows<Row>>;

/** Most pages are full after this many spans. Longer searches read two spans at a time. */
const SPANS_ONE_BY_ONE = 2;

/**
 * Rows of the spans in their order, at most `limit`. `spans` may ask how many are still missing. Begins no further cold
 * span once `time` is over.
 */
async function readSpans<Row>(
  read: ReadSpan<Row>,
  search: Search,
  spans: (lacking: () => number) => Iterable<Span> | AsyncIterable<Span>,
  limit: number,
  time: ReadTime = new ReadTime(),
): Promise<FoundRows<Row>> {
  const rows: Row[] = [];
  const reading: Promise<FoundRows<Row>>[] = [];
  const lacking = () => limit - rows.length;
  /** The id where the span's reading ended early; null: it reached the end of the span. */
  const takeNext = async (): Promise<string | null> => {
    const next = await reading.shift();
    for (const row of next?.rows.slice(0, lacking()) ?? []) rows.push(row);
    return next?.readFrom ?? null;
  };
  const takeAll = async (): Promise<string | null> => {
    let readFrom: string | null = null;
    while (reading.length > 0 && lacking() > 0 && readFrom === null) readFrom = await takeNext();
    return readFrom;
  };
  const begun = { spans: 0, cold: 0 };
  for await (const span of spans(lacking)) {
    if (span.density === 'cold' && begun.cold++ > 0 && time.isPageOver()) {
      const readFrom = await takeAll();
      return { rows, readFrom: lacking() === 0 ? null : (readFrom ?? span.parts[0]?.before ?? null) };
    }
    const next = read(search, span, lacking());
    // No caller awaits this span where the one before fails or fills the page.
    next.catch(() => {});
    reading.push(next);
    if (++begun.spans > SPANS_ONE_BY_ONE && reading.length < 2) continue;
    const readFrom = await takeNext();
    if (readFrom !== null || lacking() === 0) return { rows, readFrom };
  }
  return { rows, readFrom: await takeAll() };
}

/**
 * What to search for among the counted receipts. A Grant id may have been used by several signers, of which the filter
 * may name one. A key belongs to one relying party, whose receipts are stored together.
 */
async function searchesOfCounted(database: Database, filter: DecisionListFilter): Promise<Search[]> {
  const owned = await withOwnerOfKey(database, filter);
  const { grantId, principal } = owned;
  if (grantId === undefined) return [owned];
  const issuers = await listIssuers(database, grantId);
  return issuers
    .filter((issuer) => principal === undefined || issuer === principal)
    .map((issuer) => ({ ...owned, principal: issuer }));
}

async function withOwnerOfKey(database: Database, filter: DecisionListFilter): Promise<DecisionListFilter> {
  const { keyId, relyingParties } = filter;
  if (keyId === undefined || relyingParties?.length === 1) return filter;
  const text = 'select distinct relying_party as did from usage_by_key where key_id = $1';
  const owners = await database.read<{ did: DidWeb }>({ text, values: [keyId] });
  const visible = owners.map(({ did }) => did).filter((did) => relyingParties?.includes(did) ?? true);
  return { ...filter, relyingParties: visible };
}

async function listIssuers(database: Database, grantId: GrantId): Promise<(DidWeb | null)[]> {
  const text = 'select principal from usage_by_grant where grant_id = $1';
  const rows = await database.read<{ principal: DidWeb | null }>({ text, values: [grantId] });
  return rows.map(({ principal }) => principal);
}

/** The ranges of ids that the filter allows, within the days that exist. */
async function findRanges(
  database: Database,
  { sinceMs, untilMs, beforeId }: DecisionListFilter,
): Promise<{ readonly uncounted: Range; readonly counted: Range; readonly coldDays: ReadonlySet<number> }> {
  const ledger = await findBounds(database);
  const from = [firstIdOfDay(ledger.firstDay)];
  const before = [firstIdOfDay(ledger.lastDay + 1)];
  if (sinceMs !== undefined) from.push(lowestReceiptId(sinceMs));
  if (untilMs !== undefined) before.push(lowestReceiptId(untilMs));
  if (beforeId !== undefined) before.push(beforeId);
  const all = { from: from.reduce(higherId), before: before.reduce(lowerId) };
  const split = higherId(all.from, lowerId(all.before, ledger.countedBefore));
  return {
    ...{ uncounted: { ...all, from: split }, counted: { ...all, before: split } },
    coldDays: new Set(ledger.coldDays),
  };
}

interface Bounds {
  readonly countedBefore: string;
  /** First day of the partitions and cold days. While there are none, `firstDay` is 0 and `lastDay` −1. */
  readonly firstDay: number;
  readonly lastDay: number;
  readonly coldDays: readonly number[];
}

async function findBounds(database: Database): Promise<Bounds> {
  const partition = (order: 'asc' | 'desc') => `(
    select to_date(right(relname, 8), 'YYYYMMDD') - date '1970-01-01' from pg_class
    where relname >= 'receipts_' and relname < 'receipts_a' and relname ~ '^receipts_\\d{8}$'
      and relkind = 'r' and relnamespace = current_schema()::regnamespace
    order by relname ${order} limit 1)`;
  const [row] = await database.read<Bounds>({
    text: `select counted_before as "countedBefore",
      coalesce(least(${partition('asc')}, cold.days[1]), 0) as "firstDay",
      coalesce(${partition('desc')}, cold.days[array_upper(cold.days, 1)], -1) as "lastDay", cold.days as "coldDays"
      from ledger_count, (
        select array(select day - date '1970-01-01' from cold_days where state = 'cold' order by day) as days
      ) as cold`,
    values: [],
  });
  if (row === undefined) throw new StoreError('refused', 'the ledger has no count');
  return row;
}
