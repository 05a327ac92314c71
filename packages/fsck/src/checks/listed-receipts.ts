/** Compares the index columns of Receipts in the objects of a day with those in the ledger. */
import { type ColdDay, ColdDayReader, clearActions } from '@svc/cold-ledger';
import type { ObjectStore } from '@svc/service';
import type { CheckContext } from '../check.ts';
import { rowText, rowTextSql, withoutBlanks } from './row-text.ts';

const LISTED = `
  select receipt_id as id, ${rowTextSql('receipts')} as row from receipts where receipt_id = any ($1)`;

/**
 * Checks that every Receipt of the ledger is listed with the same columns in the objects. `mayBeCleared`: the ledger
 * may no longer have the action fields. Receipts that the ledger does not have are not compared.
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
    const stored = new Map(found.map(({ id, row }) => [id, withoutBlanks(row)]));
    for (const row of rows) {
      const kept = stored.get(row.receipt_id);
      const forms = mayBeCleared ? [row, clearActions(row)] : [row];
      if (kept !== undefined && !forms.some((form) => rowText('receipts', form) === kept))
        report(manifest.day, `the Receipt ${row.receipt_id} is listed otherwise than in the ledger`);
    }
  }
};
