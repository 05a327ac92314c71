/** Access to the ledger by day: a query that is bounded by a day's Receipt ids plans and reads only one partition. */

import { dayAfter } from '@svc/transparency';
import type { Query } from './query.ts';

/** `YYYY-MM-DD` of every partition, ascending. */
export const listReceiptDays = async ({ query }: { readonly query: Query }): Promise<readonly string[]> => {
  const rows = await query<{ day: string }>(
    `select to_date(right(relname, 8), 'YYYYMMDD')::text as day from pg_inherits join pg_class c on c.oid = inhrelid
     where inhparent = 'receipts'::regclass order by 1`,
  );
  return rows.map(({ day }) => day);
};

/** A condition on Receipt ids with constants, so that the planner prunes all other partitions. */
export const isOfDay = (day: string): string =>
  `receipt_id >= ${lowestReceiptId(day)} and receipt_id < ${lowestReceiptId(dayAfter(day))}`;

const lowestReceiptId = (day: string): string => `svc_lowest_receipt_id('${day}T00:00:00Z')`;
