/** Writes manifests and objects of a day that no packer has written. */
import {
  type ColdDay,
  ColdDayReader,
  type DayRows,
  hashOfManifest,
  manifestFolder,
  packTables,
  type ReceiptRow,
} from '@svc/cold-ledger';
import { objectName } from '@svc/object-store';
import type { Sha256 } from '@svc/protocol';
import type { ObjectStore } from '@svc/service';

export const OTHER_HASH = `sha256:${'0'.repeat(64)}` as Sha256;

export const listManifests = async (objects: ObjectStore, day: string): Promise<readonly string[]> =>
  (await objects.list(manifestFolder(day), null, 10)).names;

/** Puts a manifest into the folder of the day. */
export const putManifest = async (objects: ObjectStore, day: string, manifest: string): Promise<Sha256> => {
  const bytes = Buffer.from(manifest);
  await objects.put(objectName(manifestFolder(day), bytes, 'jws'), bytes);
  return hashOfManifest(bytes);
};

/** Packs the rows of a packed day again, with the rows of some tables changed. */
export const packChanged = (
  objects: ObjectStore,
  packed: ColdDay,
  change: (rows: DayRows) => Partial<DayRows>,
): Promise<ColdDay['tables']> => {
  const reader = new ColdDayReader(objects, packed);
  const rows: DayRows = {
    receipts: () => reader.receipts(),
    attestations: () => reader.rows('attestations'),
    consumptionEvents: () => reader.rows('consumption_events'),
  };
  return packTables(objects, packed.day, { ...rows, ...change(rows) });
};

/** The same with each Receipt changed. */
export const packReceipts = (
  objects: ObjectStore,
  packed: ColdDay,
  change: (row: ReceiptRow) => ReceiptRow,
): Promise<ColdDay['tables']> =>
  packChanged(objects, packed, ({ receipts }) => ({
    receipts: () => changeBatches(receipts(), (rows) => rows.map(change)),
  }));

export async function* changeBatches<Row>(
  batches: AsyncIterable<readonly Row[]>,
  change: (rows: readonly Row[]) => readonly Row[],
): AsyncGenerator<readonly Row[]> {
  for await (const rows of batches) yield change(rows);
}
