/** A day into the store, and out of it again: nothing may rest on what was packed before this has read it back and compared it. */
import type { ObjectStore } from '@svc/service';
import type { ColdDay } from './manifest.ts';
import { type DayRows, type ProvenTables, packTables, proveReceipts } from './pack-tables.ts';
import { differenceOf, newPrints, type Print, type PrintedRow } from './prints.ts';
import { ColdDayReader } from './read-day.ts';
import type { Sizes } from './write-table.ts';

/** What the Receipts lead to as they were read back from the store, and what they were read from. */
export interface PackedDay extends ProvenTables {
  readonly tables: ColdDay['tables'];
  /** Where rows that were read back begin not to be those that were stored: a table and a receipt id. Null: all are the same. */
  readonly difference: string | null;
}

/**
 * The same rows are the same objects, so to be cut off anywhere and begin again leaves nothing twice. Rejects with
 * `ObjectStoreError` where the store fails or does not give back what it was given.
 */
export const packDay = async (
  store: ObjectStore,
  day: string,
  rows: DayRows,
  options: { readonly signal?: AbortSignal; readonly sizes?: Sizes } = {},
): Promise<PackedDay> => {
  const { signal } = options;
  const [stored, found] = [newPrints(), newPrints()];
  const tables = await packTables(
    store,
    day,
    {
      receipts: () => printed(stored.receipts, rows.receipts()),
      attestations: () => printed(stored.attestations, rows.attestations()),
      consumptionEvents: () => printed(stored.consumption_events, rows.consumptionEvents()),
    },
    options,
  );
  const proven = await proveReceipts(store, tables, signal, (row) => found.receipts.add(row));
  const reader = new ColdDayReader(store, { tables });
  for (const table of ['attestations', 'consumption_events'] as const)
    for await (const rows of reader.rows(table, signal)) for (const row of rows) found[table].add(row);
  return { ...proven, tables, difference: differenceOf(stored, found) };
};

async function* printed<Row extends PrintedRow>(
  print: Print,
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    for (const row of batch) print.add(row);
    yield batch;
  }
}
