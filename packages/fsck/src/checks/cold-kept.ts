/**
 * Finds what the database keeps of Grants for cold days without a Receipt that says it: days on which decisions named a
 * Grant, and verifications of a Grant. The converse, that the database keeps everything that the Receipts say, is
 * checked in cold-facts.ts.
 */
import type { ColdDayReader, ReceiptRow } from '@svc/cold-ledger';
import { type CheckContext, reportRows } from '../check.ts';
import { COLD_DAYS } from '../cold-days.ts';

/** A row of `usage_by_grant`, or of `cold_verifications`; the latter has a relying party and its latest Receipt. */
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
 * Rows of the days $3, a multirange, by day and Grant: of each day those after the Grant $1, $2 rows and all others of
 * the last Grant. No index finds the rows of a day, so both tables are read as a whole.
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

/** The last Grant of a day's rows if there may be more rows after it; else null. */
const lastGrant = (rows: readonly Kept[], size: number): string | null =>
  rows.length < size ? null : (rows.at(-1)?.grantId ?? null);

/** Number of rows in memory, of some 200 bytes each. A day is read once for each such number of rows that it has. */
const PAGE = 200_000;
/** Maximum number of days whose rows are loaded together, if they fit in one page. */
const DAYS_AT_ONCE = 30;

/** What the database keeps of all cold days, one day after another. */
export class ColdKeptDays {
  /** All rows of each day that is loaded and has not been requested yet. */
  readonly #loaded = new Map<string, KeptOfDay[]>();

  /** `days`: in ascending order. */
  constructor(
    private readonly context: CheckContext,
    private readonly days: readonly string[],
    private readonly size = PAGE,
  ) {}

  /** Each day may be requested at most once, in order; days may be skipped. */
  async of(day: string): Promise<ColdKept> {
    const after = this.#loaded.has(day) ? null : await this.#loadFrom(day);
    const rows = this.#loaded.get(day) ?? [];
    this.#loaded.delete(day);
    return new ColdKept(this.context, day, this.size, rows, after);
  }

  /**
   * Loads the day, and those after it whose rows all fit in memory. Returns the Grant after which this day may have
   * more rows; null if it has none.
   */
  async #loadFrom(day: string): Promise<string | null> {
    this.#loaded.clear();
    const start = this.days.indexOf(day);
    const days = this.days.slice(start, start + DAYS_AT_ONCE);
    const rows = await load(this.context, days, '', this.size);
    const more = lastGrant(rows, this.size);
    // The day of the last row may have more rows.
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

/** Takes every Receipt of one day, in any order. */
export class ColdKept {
  readonly #left = new Map<string, Kept>();
  /** The last Grant that was loaded; null if there are no more rows after it. */
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

  /** To be called after all Receipts have been added. Reads them again if more is kept than fits in memory. */
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
 * Checks the verifications of days that are not cold. Rows exist for such days, because they are stored before their
 * day leaves the database, and because a day can be brought back. Consecutive cold days form one range, which as a rule
 * contains all of them.
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
