/**
 * What the database keeps of Grants by the Receipts of cold days, and no Receipt says: days on which decisions named a Grant,
 * and who verified it. That it keeps what they say is compared in cold-facts.ts.
 */
import type { ColdDayReader, ReceiptRow } from '@svc/cold-ledger';
import { type CheckContext, reportRows } from '../check.ts';
import { COLD_DAYS } from '../cold-days.ts';

/** A row of `usage_by_grant`, or of `cold_verifications`: with a relying party and its latest Receipt. */
interface Kept {
  readonly grantId: string;
  readonly principal: string | null;
  readonly relyingParty: string | null;
  readonly receiptId: string | null;
}

interface KeptOfDay extends Kept {
  readonly day: string;
}

const keyOf = ({ grantId, principal, relyingParty, receiptId }: Kept): string =>
  JSON.stringify([grantId, principal, relyingParty, receiptId]);

const lowestId = (day: string): string => `svc_lowest_receipt_id((${day})::timestamp at time zone 'UTC')`;

/**
 * Those of the days $3, a multirange, by day and Grant: behind the Grant $1 of each day, $2 of them and all others of the
 * last Grant. No index finds the rows of a day: both tables are read as a whole.
 */
const KEPT = `
  with kept as (
    select day::date as day, grant_id, principal, null::text as relying_party, null::text as receipt_id
    from usage_by_grant, unnest(days * $3::datemultirange) as named,
      generate_series(lower(named)::timestamp, (upper(named) - 1)::timestamp, interval '1 day') as day
    where days && $3::datemultirange
    union all
    select lower($3::datemultirange) - 1 + width_bucket(latest_receipt_id, array(
        select ${lowestId('lower($3::datemultirange) + i')}
        from generate_series(0, upper($3::datemultirange) - lower($3::datemultirange)) as i order by i)),
      grant_id, principal, relying_party, latest_receipt_id
    from cold_verifications
  )
  select day::text as day, grant_id as "grantId", principal, relying_party as "relyingParty", receipt_id as "receiptId"
  from kept where $3::datemultirange @> day and grant_id > $1
  order by kept.day, grant_id fetch first $2 rows with ties`;

const load = ({ query }: CheckContext, days: readonly string[], after: string, size: number) =>
  query<KeptOfDay>(KEPT, [after, size, `{${days.map((day) => `[${day},${day}]`).join()}}`]);

/** The last Grant of a day's rows where there may be more behind it. */
const lastGrant = (rows: readonly Kept[], size: number): string | null =>
  rows.length < size ? null : (rows.at(-1)?.grantId ?? null);

/** Rows in memory, of some 200 bytes each: for every so many of one day that day is read once. */
const PAGE = 200_000;
/** Days whose rows are loaded at once, as long as they are no more than a page. */
const DAYS_AT_ONCE = 30;

/** What is kept of all cold days, for one after another. */
export class ColdKeptDays {
  /** All rows of each day that was loaded and not asked for yet. */
  readonly #loaded = new Map<string, KeptOfDay[]>();

  /** `days`: ascending. */
  constructor(
    private readonly context: CheckContext,
    private readonly days: readonly string[],
    private readonly size = PAGE,
  ) {}

  /** Each day is asked for once at most, in their order; some may be left out. */
  async of(day: string): Promise<ColdKept> {
    const after = this.#loaded.has(day) ? null : await this.#loadFrom(day);
    const rows = this.#loaded.get(day) ?? [];
    this.#loaded.delete(day);
    return new ColdKept(this.context, day, this.size, rows, after);
  }

  /** Loads the day and those behind it that fit in memory as a whole. Answers the Grant behind which more of this day may be kept. */
  async #loadFrom(day: string): Promise<string | null> {
    this.#loaded.clear();
    const start = this.days.indexOf(day);
    const days = this.days.slice(start, start + DAYS_AT_ONCE);
    const rows = await load(this.context, days, '', this.size);
    const more = lastGrant(rows, this.size);
    // The day of the last row may go on.
    const cut = more === null ? undefined : rows.at(-1)?.day;
    for (const one of days) {
      if (one === cut && one !== day) break;
      this.#loaded.set(one, []);
      if (one === cut) break;
    }
    for (const row of rows) this.#loaded.get(row.day)?.push(row);
    return cut === day ? more : null;
  }
}

/** Hears of every Receipt of one day, in any order. */
export class ColdKept {
  readonly #left = new Map<string, Kept>();
  /** The last Grant of those that were loaded; null: there is none behind it. */
  #after: string | null;

  constructor(
    private readonly context: CheckContext,
    readonly day: string,
    private readonly size: number,
    rows: readonly Kept[],
    after: string | null,
  ) {
    this.#hold(rows);
    this.#after = after;
  }

  add(receipts: readonly ReceiptRow[]): void {
    for (const {
      grant_id: grantId,
      principal,
      relying_party: relyingParty,
      receipt_id: receiptId,
    } of receipts) {
      if (grantId === null) continue;
      this.#left.delete(keyOf({ grantId, principal, relyingParty: null, receiptId: null }));
      this.#left.delete(keyOf({ grantId, principal, relyingParty, receiptId }));
    }
  }

  /** Once all have been added. Reads them again where more is kept than was held in memory. */
  async end(reader: ColdDayReader): Promise<void> {
    this.#report();
    while (this.#after !== null) {
      const rows = await load(this.context, [this.day], this.#after, this.size);
      this.#hold(rows);
      this.#after = lastGrant(rows, this.size);
      if (this.#left.size === 0) return;
      for await (const receipts of reader.receipts()) this.add(receipts);
      this.#report();
    }
  }

  #hold(rows: readonly Kept[]): void {
    for (const row of rows) this.#left.set(keyOf(row), row);
  }

  #report(): void {
    for (const { grantId, relyingParty, receiptId } of this.#left.values())
      this.context.report(
        this.day,
        receiptId === null
          ? `the Grant ${grantId} is kept as named by its decisions, and none of them names it so`
          : `the Grant ${grantId} is kept as verified by ${relyingParty} in ${receiptId}, and its objects have no such Receipt`,
      );
    this.#left.clear();
  }
}

/**
 * Verifications of days that are not cold: they are kept before their day leaves, and a day can come back. Cold days
 * that follow each other are one range: as a rule all of them.
 */
export const checkVerificationsOfHotDays = (context: CheckContext): Promise<void> =>
  reportRows(
    context,
    `with cold as materialized (
      select ${lowestId('lower(days)')} as first, ${lowestId('upper(days)')} as behind
      from unnest((select range_agg(daterange(day, day + 1)) from (${COLD_DAYS}) as d)) as days)
    select v.grant_id as "where",
      'is kept as verified by ' || v.relying_party || ' in ' || v.latest_receipt_id || ', and there is no such Receipt' as problem
    from cold_verifications as v
    where not exists (select from cold where v.latest_receipt_id >= cold.first and v.latest_receipt_id < cold.behind)
      and not exists (
        select from receipts as r
        where r.receipt_id = v.latest_receipt_id
          and (r.grant_id, r.principal, r.relying_party) = (v.grant_id, v.principal, v.relying_party))`,
  );
