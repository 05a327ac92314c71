/** By what Receipts are listed in the objects of a day, against the ledger. */
import {
  COLUMNS_AS_READ,
  type ColdDay,
  ColdDayReader,
  clearActions,
  type ReceiptRow,
} from '@svc/cold-ledger';
import type { ObjectStore } from '@svc/service';
import type { CheckContext } from '../check.ts';

const COLUMNS = COLUMNS_AS_READ.receipts;
const LISTED = `
  select receipt_id as id, json_build_array(${COLUMNS.map(([name, kind]) =>
    kind.startsWith('instant') ? `(extract(epoch from ${name}) * 1000000)::bigint::text` : `${name}::text`,
  ).join()})::text as row
  from receipts where receipt_id = any ($1)`;

const textOf = (row: ReceiptRow): string =>
  JSON.stringify(
    COLUMNS.map(([name]) => {
      const value = (row as unknown as Readonly<Record<string, unknown>>)[name];
      return value === null || value === undefined ? null : String(value);
    }),
  );

/**
 * Every Receipt that is in the ledger is listed in the objects as there; `mayBeCleared`: the ledger may have no
 * action fields any more. Those that the ledger does not have are not compared.
 */
export const compareListed = async (
  { query, report }: Pick<CheckContext, 'query' | 'report'>,
  objects: ObjectStore,
  manifest: ColdDay,
  mayBeCleared: boolean,
): Promise<void> => {
  for await (const rows of new ColdDayReader(objects, manifest).receipts()) {
    const ids = rows.map((row) => row.receipt_id);
    const found = await query<{ id: string; row: string }>(LISTED, [ids]);
    const stored = new Map(found.map(({ id, row }) => [id, JSON.stringify(JSON.parse(row))]));
    for (const row of rows) {
      const kept = stored.get(row.receipt_id);
      const forms = mayBeCleared ? [row, clearActions(row)] : [row];
      if (kept !== undefined && !forms.some((form) => textOf(form) === kept))
        report(manifest.day, `the Receipt ${row.receipt_id} is listed otherwise than in the ledger`);
    }
  }
};
