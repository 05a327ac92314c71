/** Searches cold days, and converts the index columns of their rows to the form of lists. */
import type { Stored } from '@svc/cold-ledger';
import type { ReceiptId } from '@svc/protocol';
import type { ActRecord, DecisionRecord } from '@svc/service';
import { DayMovedError } from '../cold/cold-errors.ts';
import { findColdDays, type Question } from '../cold/cold-reader.ts';
import type { NamedDay } from '../cold/open-days.ts';
import { rowConditions } from '../cold/row-conditions.ts';
import type { Database } from '../database.ts';
import { dateOfDay, nextMillisecond } from '../receipt-ids.ts';
import type { Search } from './search.ts';
import type { Part } from './spans.ts';

export const ACTED = [
  ...(['relying_party', 'grant_id', 'agent', 'decision', 'reason', 'evaluated_at'] as const),
  ...(['amount', 'currency'] as const),
];
export const SHOWN = [...ACTED, ...(['principal', 'key_id', 'action_type', 'resource', 'method'] as const)];

export type ColdRow = Pick<Stored<'receipts'>, (typeof SHOWN)[number] | 'receipt_id'>;

/** The matches found in a part of the ledger. */
export interface FoundRows<Row> {
  readonly rows: readonly Row[];
  /**
   * Set where the time of the page ended: Receipts with lower ids belong to the next page. Callers see this id, so it
   * is the lowest id of a millisecond and not that of a Receipt. Null: the whole part was read, or there are enough
   * rows.
   */
  readonly readFrom: string | null;
}

/** The columns wanted of each row, for rows in PostgreSQL and for rows in an object. */
export interface Shape<Row> {
  /** `receipt_id as "receiptId"`, … */
  readonly sql: string;
  readonly columns: readonly (keyof ColdRow)[];
  readonly rowOf: (row: ColdRow) => Row;
}

/**
 * At most `limit` matches in a part of one cold day, newest first. Reads at least one row group even if the time is
 * over. Reads further groups if the first does not reach below the millisecond in which the part ends.
 */
export const searchColdDay = async <Row>(
  question: Question,
  search: Search,
  part: Part & { readonly day: number },
  { columns, rowOf }: Shape<Row>,
  limit: number,
): Promise<FoundRows<Row>> => {
  const named = await manifestOf(question.database, part.day);
  const scan = { ...part, columns, where: rowConditions(search), isDescending: true, most: limit };
  return question.cold.read(question, named, async (day, signal) => {
    const rows: Row[] = [];
    for await (const group of day.scan(scan, signal)) {
      rows.push(...group.rows.slice(0, limit - rows.length).map((row) => rowOf(row as ColdRow)));
      if (rows.length === limit) return { rows, readFrom: null };
      // The first Receipt of a group may be another tenant's, and the group below may have more Receipts of its
      // millisecond.
      const readFrom = nextMillisecond(group.first);
      if (group.first > part.from && readFrom < part.before && question.time.isPageOver())
        return { rows, readFrom };
    }
    return { rows, readFrom: null };
  });
};

const manifestOf = async (database: Database, dayNumber: number): Promise<NamedDay> => {
  const day = dateOfDay(dayNumber);
  const hash = (await findColdDays(database, [day])).get(day);
  if (hash === undefined) throw new DayMovedError();
  return { day, hash };
};

export const actOf = (row: Pick<ColdRow, (typeof ACTED)[number] | 'receipt_id'>): ActRecord =>
  ({
    receiptId: row.receipt_id as ReceiptId,
    decision: row.decision,
    reason: row.reason,
    evaluatedAtMs: Number(row.evaluated_at / 1_000n),
    grantId: row.grant_id,
    agent: row.agent,
    relyingParty: row.relying_party,
    amount: row.amount === null ? null : Number(row.amount),
    currency: row.currency,
  }) as ActRecord;

/** The row of a list of decisions. */
export const decisionOf = (row: ColdRow): DecisionRecord =>
  ({
    ...actOf(row),
    principal: row.principal,
    keyId: row.key_id,
    actionType: row.action_type,
    resource: row.resource,
    method: row.method,
  }) as DecisionRecord;
