/**
 * What the database keeps of Grants by the Receipts of cold days, and no Receipt says: days on which decisions named a Grant,
 * and who verified it. That it keeps what they say is compared in cold-facts.ts.
 */
import type { ColdDayReader, ReceiptRow } from '@svc/cold-ledger';
import { type CheckContext, reportRows } from '../check.ts';
import { COLD_RANGES } from '../cold-days.ts';
import { isOfDay } from '../receipt-days.ts';

/** A row of `usage_by_grant`, or of `cold_verifications`: with a relying party and its latest Receipt. */
interface Kept {
  readonly grantId: string;
  readonly principal: string | null;
  readonly relyingParty: string | null;
  readonly receiptId: string | null;
}

const keyOf = ({ grantId, principal, relyingParty, receiptId }: Kept): string =>
  JSON.stringify([grantId, principal, relyingParty, receiptId]);

/** Those of a day behind the Grant $1, $2 of them and all others of the last Grant. */
const keptOf = (day: string): string => `
  select grant_id as "grantId", principal, null::text as "relyingParty", null::text as "receiptId"
  from usage_by_grant where days @> date '${day}' and grant_id > $1
  union all
  select grant_id, principal, relying_party, latest_receipt_id
  from cold_verifications where ${isOfDay(day, 'latest_receipt_id')} and grant_id > $1
  order by 1 fetch first $2 rows with ties`;

/** Rows in memory, of some 200 bytes each: for every so many the day is read once. */
const PAGE = 200_000;

/** Hears of every Receipt of one day, in any order. */
export class ColdKept {
  readonly #left = new Map<string, Kept>();
  /** The last Grant of those that were loaded; null: there is none behind it. */
  #after: string | null = '';

  private constructor(
    private readonly context: CheckContext,
    private readonly day: string,
    private readonly size: number,
  ) {}

  static async of(context: CheckContext, day: string, size = PAGE): Promise<ColdKept> {
    const kept = new ColdKept(context, day, size);
    await kept.#load();
    return kept;
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
      await this.#load();
      if (this.#left.size === 0) return;
      for await (const receipts of reader.receipts()) this.add(receipts);
      this.#report();
    }
  }

  async #load(): Promise<void> {
    const rows = await this.context.query<Kept>(keptOf(this.day), [this.#after, this.size]);
    for (const row of rows) this.#left.set(keyOf(row), row);
    this.#after = rows.length < this.size ? null : (rows.at(-1)?.grantId ?? null);
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

/** Verifications of days that are not cold: they are kept before their day leaves, and a day can come back. */
export const checkVerificationsOfHotDays = (context: CheckContext): Promise<void> =>
  reportRows(
    context,
    `with cold as materialized (${COLD_RANGES})
    select v.grant_id as "where",
      'is kept as verified by ' || v.relying_party || ' in ' || v.latest_receipt_id || ', and there is no such Receipt' as problem
    from cold_verifications as v
    where not exists (select from cold where v.latest_receipt_id >= cold.first and v.latest_receipt_id < cold.behind)
      and not exists (
        select from receipts as r
        where r.receipt_id = v.latest_receipt_id
          and (r.grant_id, r.principal, r.relying_party) = (v.grant_id, v.principal, v.relying_party))`,
  );
