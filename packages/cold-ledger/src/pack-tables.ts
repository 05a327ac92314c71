/** Writes the tables of a day into the store, and computes their roots when they are read back. */
import { createHash } from 'node:crypto';
import { CompactRange, formatHash, hashLeaf } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import { objectName } from '@svc/object-store';
import type { Sha256 } from '@svc/protocol';
import type { ObjectStore } from '@svc/service';
import type { ColdDay, ObjectEntry } from './manifest.ts';
import { ColdDayReader } from './read-day.ts';
import { storeReceipt } from './receipt-jws.ts';
import type { AttestationRow, ConsumptionRow, ReceiptRow, Stored, TableName } from './schema.ts';
import { type Sizes, writeTable } from './write-table.ts';

/** Rows of a day in batches of any size, by ascending receipt id; within one Receipt by ordinal, or by version. */
export interface DayRows {
  receipts(): AsyncIterable<readonly ReceiptRow[]>;
  attestations(): AsyncIterable<readonly AttestationRow[]>;
  consumptionEvents(): AsyncIterable<readonly ConsumptionRow[]>;
}

/** An object of a day. */
export interface TableObject {
  readonly table: TableName;
  readonly entry: ObjectEntry;
}

export interface PackOptions {
  readonly signal?: AbortSignal;
  readonly sizes?: Sizes;
  /** Called for each object once it is stored. */
  readonly onObject?: (object: TableObject) => void;
}

/** The same rows give the same objects, so a run that was killed can be repeated without leaving duplicates. */
export const packTables = async (
  store: ObjectStore,
  day: string,
  rows: DayRows,
  { signal, sizes, onObject = () => {} }: PackOptions = {},
): Promise<ColdDay['tables']> => {
  const pack = async <T extends TableName>(
    table: T,
    batches: AsyncIterable<readonly Stored<T>[]>,
  ): Promise<ObjectEntry[]> => {
    const entries: ObjectEntry[] = [];
    for await (const { bytes, entry } of writeTable(table, day, batches, sizes)) {
      const name = objectName(`${day}/${table.replace('_', '-')}`, bytes, 'parquet');
      await store.put(name, bytes, signal);
      entries.push({ name, ...entry });
      onObject({ table, entry: { name, ...entry } });
    }
    return entries;
  };
  return {
    receipts: await pack('receipts', storedReceipts(rows.receipts())),
    attestations: await pack('attestations', rows.attestations()),
    consumption_events: await pack('consumption_events', rows.consumptionEvents()),
  };
};

async function* storedReceipts(
  batches: AsyncIterable<readonly ReceiptRow[]>,
): AsyncGenerator<readonly Stored<'receipts'>[]> {
  for await (const batch of batches) yield batch.map(storeReceipt);
}

export interface ProvenTables {
  readonly treeSize: number;
  readonly root: Sha256;
  readonly contentRoot: Sha256;
}

/**
 * Reads every Receipt from the store and computes the roots of both trees of the day (protocol §12). `onRow` is called
 * for each Receipt.
 */
export const proveReceipts = async (
  store: ObjectStore,
  tables: ColdDay['tables'],
  signal?: AbortSignal,
  onRow: (row: ReceiptRow) => void = () => {},
): Promise<ProvenTables> => {
  const trees = new DayTrees();
  for await (const rows of new ColdDayReader(store, { tables }).receipts(signal))
    for (const row of rows) {
      onRow(row);
      trees.add(row);
    }
  return trees.proven;
};

/** Both trees of a day's Receipts, in the order of their ids. */
export class DayTrees {
  readonly #ids = new CompactRange(nativeSha256);
  readonly #contents = new CompactRange(nativeSha256);

  add({ receipt_id: id, jws }: ReceiptRow): void {
    this.#ids.push(hashLeaf(id, nativeSha256));
    this.#contents.push(hashLeaf(createHash('sha256').update(jws).digest(), nativeSha256));
  }

  get proven(): ProvenTables {
    return { treeSize: this.#ids.size, root: textOf(this.#ids), contentRoot: textOf(this.#contents) };
  }
}

const textOf = (range: CompactRange): Sha256 => `sha256:${formatHash(range.root())}` as Sha256;
