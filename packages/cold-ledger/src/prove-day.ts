/** Whether a packed day is in the store as it was packed and published. */
import {
  type CheckpointRecord,
  type Day,
  type ObjectStore,
  ObjectStoreError,
  type ServiceDeps,
} from '@svc/service';
import type { ColdDay } from './manifest.ts';
import { proveReceipts } from './pack-tables.ts';
import { ColdDayReader } from './read-day.ts';
import { manifestReader, type ReadManifest } from './read-manifest.ts';
import type { ReceiptRow } from './schema.ts';

export interface ProveDeps extends Pick<ServiceDeps, 'crypto' | 'identity' | 'log'> {
  readonly store: Pick<ServiceDeps['store'], 'coldDays' | 'checkpoints'>;
  readonly objects: ObjectStore;
}

/**
 * Reads every byte that a manifest names and compares it with the day's checkpoint. Answers what differs; null: nothing. `onRow` hears of
 * each Receipt. Rejects where that cannot be told: with `ObjectStoreError` `unavailable`, or as `stop` was aborted.
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
    return found.root === published.root && found.contentRoot === published.contentRoot
      ? null
      : 'its objects do not lead to its roots';
  } catch (error) {
    if (stop?.aborted === true) throw error;
    if (error instanceof ObjectStoreError && error.kind === 'unavailable') throw error;
    return error instanceof Error ? error.message : String(error);
  }
};

const readOrProblem = (read: ReadManifest, text: string): ColdDay | string => {
  try {
    return read(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** The same of a recorded day, and that the service has signed its manifest; it is noted in the database, and logged where something differs. Null, too: stopped. */
export const proveDay = async (
  { crypto, identity, log, objects, store }: ProveDeps,
  day: Day,
  stop: AbortSignal,
): Promise<string | null> => {
  const [recorded, published] = await Promise.all([
    store.coldDays.findManifest(day),
    store.checkpoints.find(day),
  ]);
  if (recorded === null || published === null) throw new Error(`${day} has no manifest or no checkpoint`);
  let problem: string | null;
  try {
    const manifest = readOrProblem(manifestReader(identity, crypto), recorded.manifest);
    problem =
      typeof manifest === 'string' ? manifest : await findDayProblem(objects, manifest, published, stop);
  } catch (error) {
    if (stop.aborted) return null;
    log.error('cold.not_proven', { day, problem: error instanceof Error ? error.message : String(error) });
    throw error;
  }
  if (problem !== null) log.error('cold.not_proven', { day, problem });
  await store.coldDays.noteProof(day, problem);
  return problem;
};

/** Some hundred million Receipts an hour would take longer than that; the rest is for the next round. */
const DAYS_A_ROUND = 8;
const EVERY_DAYS = 30;

/** Proves some of the days of which the objects are the only copy, once a month each. Answers how many, and those that were not proven. */
export const proveOnlyCopies = async (
  deps: ProveDeps,
  stop: AbortSignal,
): Promise<{ readonly proven: number; readonly notProven: readonly Day[] }> => {
  let proven = 0;
  const notProven: Day[] = [];
  for (const day of await deps.store.coldDays.listToProve(EVERY_DAYS, DAYS_A_ROUND)) {
    if (stop.aborted) break;
    if ((await proveDay(deps, day, stop)) !== null) notProven.push(day);
    else if (!stop.aborted) proven += 1;
  }
  return { proven, notProven };
};
