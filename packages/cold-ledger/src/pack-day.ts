/**
 * Writes a day into the store, and reads it back: nothing may depend on packed data before it was read back and
 * compared. The two are separate functions, so that one thread can read an object back while another makes the next
 * one.
 */
import type { ObjectStore } from '@svc/service';
import type { ColdDay, ObjectEntry } from './manifest.ts';
import {
  type DayRows,
  DayTrees,
  type PackOptions,
  type ProvenTables,
  packTables,
  type TableObject,
} from './pack-tables.ts';
import { type Digests, differenceOf, digestsOf, newPrints, type Print, type PrintedRow } from './prints.ts';
import { ColdDayReader } from './read-day.ts';
import { assertWhole } from './whole-object.ts';

/** The roots of the Receipts as read back from the store, and the objects they were read from. */
export interface PackedDay extends ProvenTables {
  readonly tables: ColdDay['tables'];
  /**
   * The first table and receipt id at which rows that were read back differ from those that were stored. Null: all are
   * the same.
   */
  readonly difference: string | null;
}

export interface WrittenDay {
  readonly tables: ColdDay['tables'];
  /** Digests of the rows that were given. */
  readonly stored: Digests;
}

export interface ReadBackDay extends ProvenTables {
  /** Digests of the rows that were read back. */
  readonly found: Digests;
}

/**
 * The same rows give the same objects, so a run that was cut off can be repeated without leaving duplicates. Rejects
 * with `ObjectStoreError` if the store fails.
 */
export const writeDay = async (
  store: ObjectStore,
  day: string,
  rows: DayRows,
  options: PackOptions = {},
): Promise<WrittenDay> => {
  const stored = newPrints();
  const source: DayRows = {
    receipts: () => printed(stored.receipts, rows.receipts()),
    attestations: () => printed(stored.attestations, rows.attestations()),
    consumptionEvents: () => printed(stored.consumption_events, rows.consumptionEvents()),
  };
  return { tables: await packTables(store, day, source, options), stored: digestsOf(stored) };
};

/**
 * Reads the objects of a day in their order, table by table. Rejects with `ObjectStoreError` if the store does not
 * return what was stored.
 */
export const readBackDay = async (
  store: ObjectStore,
  objects: AsyncIterable<TableObject> | Iterable<TableObject>,
  signal?: AbortSignal,
): Promise<ReadBackDay> => {
  const found = newPrints();
  const trees = new DayTrees();
  for await (const { table, entry } of objects) {
    const reader = new ColdDayReader(store, { tables: { ...NO_TABLES, [table]: [entry] } });
    if (table === 'receipts')
      for await (const rows of reader.receipts(signal))
        for (const row of rows) {
          found.receipts.add(row);
          trees.add(row);
        }
    else for await (const rows of reader.rows(table, signal)) for (const row of rows) found[table].add(row);
    await assertWhole(store, entry, signal);
  }
  return { ...trees.proven, found: digestsOf(found) };
};

const NO_TABLES: ColdDay['tables'] = { receipts: [], attestations: [], consumption_events: [] };

export const packedOf = ({ tables, stored }: WrittenDay, { found, ...proven }: ReadBackDay): PackedDay => ({
  ...{ ...proven, tables, difference: differenceOf(stored, found) },
});

/** Both steps, one after the other. */
export const packDay = async (
  store: ObjectStore,
  day: string,
  rows: DayRows,
  options: PackOptions = {},
): Promise<PackedDay> => {
  const written = await writeDay(store, day, rows, options);
  return packedOf(written, await readBackDay(store, objectsOf(written.tables), options.signal));
};

const objectsOf = (tables: ColdDay['tables']): TableObject[] =>
  (Object.entries(tables) as [TableObject['table'], readonly ObjectEntry[]][]).flatMap(([table, entries]) =>
    entries.map((entry) => ({ table, entry })),
  );

async function* printed<Row extends PrintedRow>(
  print: Print,
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    for (const row of batch) print.add(row);
    yield batch;
  }
}
