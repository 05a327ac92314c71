/** Whether what a manifest names is in the store, and what was published. */
import { type CheckpointRecord, messageOf, type ObjectStore, ObjectStoreError } from '@svc/service';
import type { ColdDay } from './manifest.ts';
import { proveReceipts } from './pack-tables.ts';
import { ColdDayReader } from './read-day.ts';
import type { ReceiptRow } from './schema.ts';
import { assertWhole } from './whole-object.ts';

/**
 * Reads every byte of the objects that a manifest names and compares it with the day's checkpoint. Answers what
 * differs; null: nothing. `onRow` hears of each Receipt. Rejects where that cannot be told: with an `ObjectStoreError`
 * that says nothing of what is stored, or as `stop` was aborted.
 */
export const findDayProblem = async (
  objects: ObjectStore,
  manifest: ColdDay,
  published: Pick<CheckpointRecord, 'day' | 'hash' | 'root' | 'contentRoot'>,
  stop?: AbortSignal,
  onRow?: (row: ReceiptRow) => void,
): Promise<string | null> => {
  if (manifest.day !== published.day) return `its manifest is of ${manifest.day}`;
  if (manifest.checkpoint_hash !== published.hash) return 'its manifest is of another checkpoint of the day';
  try {
    const found = await proveReceipts(objects, manifest.tables, stop, onRow);
    const reader = new ColdDayReader(objects, manifest);
    for (const table of ['attestations', 'consumption_events'] as const)
      for await (const _ of reader.rows(table, stop));
    for (const entry of Object.values(manifest.tables).flat()) await assertWhole(objects, entry, stop);
    return found.root === published.root && found.contentRoot === published.contentRoot
      ? null
      : 'its objects do not lead to its roots';
  } catch (error) {
    if (stop?.aborted === true) throw error;
    if (error instanceof ObjectStoreError && !isOfWhatIsStored(error)) throw error;
    return messageOf(error);
  }
};

/** That a store does not answer, or will not, be it for credentials that have ended, is no fault of the evidence. */
export const isOfWhatIsStored = (error: ObjectStoreError): boolean =>
  error.kind === 'missing' || error.kind === 'wrong-bytes';
