/** What takes long about a day and holds a row group in memory: it may be done on a thread. */
import type { CheckpointRecord, Day, ObjectStore } from '@svc/service';
import { findDayProblem } from './find-day-problem.ts';
import type { ColdDay } from './manifest.ts';
import { type PackedDay, packDay } from './pack-day.ts';
import type { DayRows } from './pack-tables.ts';
import { differenceOf, digestReceipts } from './prints.ts';
import { ColdDayReader } from './read-day.ts';
import { clearActions, type ReceiptRow } from './schema.ts';
import type { Sizes } from './write-table.ts';

export type Published = Pick<CheckpointRecord, 'day' | 'hash' | 'root' | 'contentRoot'>;

/** Each rejects with `ObjectStoreError` or `StoreError` where one of the two fails, and with anything once `stop` is aborted. */
export interface DayWork {
  pack(day: Day, stop: AbortSignal): Promise<PackedDay>;
  /** Writes the Receipts of a packed day anew without their action fields, read from its objects; its other tables stay. */
  clear(manifest: ColdDay, stop: AbortSignal): Promise<PackedDay>;
  /** `findDayProblem`. */
  findProblem(manifest: ColdDay, published: Published, stop: AbortSignal): Promise<string | null>;
  /**
   * Where the Receipts of its objects differ from those that are kept beside the ledger, in any column; null: nowhere,
   * or none are kept.
   */
  findLoss(manifest: ColdDay, stop: AbortSignal): Promise<string | null>;
}

/**
 * Runs `work` on the rows of a day, all of one moment: those of the ledger, or of what is kept beside it (no Receipts
 * where nothing is).
 */
export type ReadDayRows = <T>(
  day: Day,
  work: (rows: DayRows) => Promise<T>,
  from?: 'ledger' | 'kept',
) => Promise<T>;

export interface DayWorkDeps {
  readonly objects: ObjectStore;
  readonly readDayRows: ReadDayRows;
  /** Sizes of objects; the usual ones unless given. */
  readonly sizes?: Sizes;
}

/** On the thread of whoever asks. */
export const dayWork = ({ objects, readDayRows, sizes }: DayWorkDeps): DayWork => ({
  pack: (day, signal) =>
    readDayRows(day, (rows) =>
      packDay(objects, day, rows, { signal, ...(sizes === undefined ? {} : { sizes }) }),
    ),
  async clear(manifest, signal) {
    const reader = new ColdDayReader(objects, manifest);
    const rows = { ...NO_ROWS, receipts: () => cleared(reader.receipts(signal)) };
    const packed = await packDay(objects, manifest.day, rows, {
      ...{ signal, ...(sizes === undefined ? {} : { sizes }) },
    });
    return { ...packed, tables: { ...manifest.tables, receipts: packed.tables.receipts } };
  },
  findProblem: (manifest, published, stop) => findDayProblem(objects, manifest, published, stop),
  async findLoss(manifest, signal) {
    // Objects may take longer than the database lets a transaction be idle.
    const were = await readDayRows(manifest.day, (rows) => digestReceipts(rows.receipts()), 'kept');
    if (were.receipts.length === 0) return null;
    const are = await digestReceipts(new ColdDayReader(objects, manifest).receipts(signal));
    return differenceOf(were, are);
  },
});

async function* none(): AsyncGenerator<never> {}
const NO_ROWS: DayRows = { receipts: none, attestations: none, consumptionEvents: none };

async function* cleared(
  batches: AsyncIterable<readonly ReceiptRow[]>,
): AsyncGenerator<readonly ReceiptRow[]> {
  for await (const rows of batches) yield rows.map(clearActions);
}
