/** Checks that the objects of a manifest are in the store and match what was published. */
import { type CheckpointRecord, messageOf, type ObjectStore, ObjectStoreError } from '@svc/service';
import type { ColdDay } from './manifest.ts';
import { proveReceipts } from './pack-tables.ts';
import { ColdDayReader } from './read-day.ts';
import type { ReceiptRow } from './schema.ts';
import { assertWhole } from './whole-object.ts';

/**
 * Reads every byte of the objects that a manifest names and compares it with the day's checkpoint. Resolves with the
 * difference; null: none. `onRow` is called for each Receipt. Rejects if the comparison is not possible: with an
 * `ObjectStoreError` that says nothing about the stored objects, or because `stop` was aborted.
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

/**
 * A store that does not answer or refuses, for example because credentials have expired, is no fault of the stored
 * evidence.
 */
export const isOfWhatIsStored = (error: ObjectStoreError): boolean =>
  error.kind === 'missing' || error.kind === 'wrong-bytes';
