/** The long work on a day, which holds a row group in memory. It can run on a separate thread. */
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

/**
 * Each call rejects with `ObjectStoreError` or `StoreError` if one of the two fails, and with any error once `stop` is
 * aborted.
 */
export interface DayWork {
  pack(day: Day, stop: AbortSignal): Promise<PackedDay>;
  /**
   * Writes the Receipts of a packed day again without their action fields, read from its objects. The other tables
   * stay.
   */
  clear(manifest: ColdDay, stop: AbortSignal): Promise<PackedDay>;
  /** `findDayProblem`. */
  findProblem(manifest: ColdDay, published: Published, stop: AbortSignal): Promise<string | null>;
  /**
   * Where the Receipts of the day's objects differ, in any column, from those kept beside the ledger. Null: nowhere, or
   * none are kept.
   */
  findLoss(manifest: ColdDay, stop: AbortSignal): Promise<string | null>;
}

/**
 * Runs `work` on the rows of a day in one snapshot: those of the ledger, or those kept beside it (no Receipts if none
 * are kept).
 */
export type ReadDayRows = <T>(
  day: Day,
  work: (rows: DayRows) => Promise<T>,
  from?: 'ledger' | 'kept',
) => Promise<T>;

export interface DayWorkDeps {
  readonly objects: ObjectStore;
  readonly readDayRows: ReadDayRows;
  /** Sizes of objects; default: the usual ones. */
  readonly sizes?: Sizes;
}

/** Runs on the caller's thread. */
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
    // Done first: reading objects may take longer than the database lets a transaction be idle.
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
