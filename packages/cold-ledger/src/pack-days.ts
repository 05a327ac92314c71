/**
 * The job that packs closed days (docs/decisions/0068-how-a-day-goes-cold.md). If it is cut off anywhere, it leaves
 * objects that no manifest names, and the day is still read from the database. The next round finds the objects and
 * goes on.
 */
import { type CheckpointRecord, type ColdManifest, type Day, messageOf } from '@svc/service';
import { clearDays, deleteReplaced } from './clear-days.ts';
import { assertSure, type LeaveDeps, type LeftDays, leaveDays, NotProvenError } from './leave-days.ts';
import type { PackedDay } from './pack-day.ts';
import { assertOfDay, proveAgain, throughOutage, workOf } from './prove-day.ts';
import { assertSameStore, isSureOfStore } from './same-store.ts';
import { manifestName, problemOf, storeManifest } from './store-manifest.ts';

export interface PackDaysDeps extends LeaveDeps {
  /** Days for which a day stays in the ledger after its end; 0: no day is packed. */
  readonly hotDays: number;
  /** Makes the folder of the objects if nothing is stored yet. */
  readonly makePlace?: () => Promise<void>;
}

export interface PackedDays extends Omit<LeftDays, 'locked' | 'notProven'> {
  readonly packed: number;
  readonly broken: number;
  /** Number of days whose objects have no action fields from now on. */
  readonly cleared: number;
  /** Number of deleted objects that only replaced manifests had named. */
  readonly deleted: number;
  /**
   * Number of days whose objects were read again: cold days whose month is over, and days that were not proven before.
   */
  readonly proven: number;
}

/**
 * Hours until the next attempt: for a day that could not be packed, and for one that was read and does not match what
 * was published.
 */
const AGAIN_HOURS = { failed: 3, broken: 24 };

/**
 * Runs these steps in order:
 *
 * - packs every day that is due, the oldest first;
 * - clears action fields in packed days that are old enough;
 * - moves packed days out of the ledger;
 * - removes days that left it long ago;
 * - deletes objects that no manifest names any more;
 * - proves some of the days that have no other copy or were not proven.
 *
 * Begins nothing once `stop` is aborted, nor while something holds decisions. A day that fails is noted and left to a
 * later round, and the others go on; at the end this rejects with the error, or with `NotProvenError`. Rejects at once
 * if the store or the database does not answer, or if the store is not the one that days were packed into before.
 */
export const packDays = async (deps: PackDaysDeps, stop: AbortSignal): Promise<PackedDays> => {
  const count = { packed: 0, broken: 0 };
  const failed = new Map<Day, unknown>();
  await assertSameStore(deps, stop);
  if (deps.hotDays > 0) await makeFirstPlace(deps);
  while (deps.hotDays > 0 && !stop.aborted) {
    await assertSure(deps);
    const listed = await deps.store.coldDays.listDue(deps.hotDays, deps.clock.nowMs(), failed.size + 1);
    const due = listed.find(({ day }) => !failed.has(day));
    if (due === undefined) break;
    const packing = throughOutage(deps, stop, () => packOne(deps, due, 'due', stop));
    const outcome = await packing.catch(async (error: unknown) => {
      await assertOfDay(deps, error, stop);
      const problem = `it could not be packed: ${messageOf(error)}`;
      deps.log.error('cold.not_packed', { day: due.day, problem });
      failed.set(due.day, error);
      await deps.store.coldDays.markBroken({ day: due.day, problem }, AGAIN_HOURS.failed);
      return 'failed' as const;
    });
    if (outcome === 'stopped') break;
    if (outcome !== 'failed') count[outcome] += 1;
  }
  const { cleared, ...clearing } = await clearDays(deps, stop);
  const { notProven, locked: _, ...left } = await leaveDays(deps, stop);
  const { deleted, ...replaced } = await deleteReplaced(deps, stop);
  const again = await proveAgain(deps, stop);
  if (failed.size > 0) throw [...failed.values()][0];
  const all = new Set([clearing, { notProven }, replaced, again].flatMap((one) => one.notProven));
  if (all.size > 0) throw new NotProvenError([...all]);
  return { ...count, cleared, ...left, deleted, proven: again.proven };
};

/** Packs one day without moving it out of the ledger. Rejects if the day cannot be packed. */
export const packNamedDay = async (
  deps: PackDaysDeps,
  day: Day,
  stop: AbortSignal,
): Promise<'packed' | 'broken' | 'stopped'> => {
  await assertSure(deps);
  await assertSameStore(deps, stop);
  await makeFirstPlace(deps);
  const checkpoint = await deps.store.coldDays.findToPack(day);
  if (checkpoint === null)
    throw new Error(
      `${day} is packed, or cannot be: it must be closed, counted, found intact by check-content within 36 hours, and not brought back by a restore (restores.reinstated_days)`,
    );
  return packOne(deps, checkpoint, 'named', stop);
};

/** If a day was packed before, a missing folder is one that was mistyped or is not mounted. */
const makeFirstPlace = async ({ store, makePlace }: PackDaysDeps): Promise<void> => {
  if ((await store.coldDays.listLatestManifests(1)).length === 0) await makePlace?.();
};

const packOne = async (
  deps: PackDaysDeps,
  checkpoint: CheckpointRecord,
  why: 'due' | 'named',
  stop: AbortSignal,
): Promise<'packed' | 'broken' | 'stopped'> => {
  const { store, log } = deps;
  const { day } = checkpoint;
  let packed: PackedDay;
  try {
    packed = await workOf(deps).pack(day, stop);
  } catch (error) {
    if (stop.aborted) return 'stopped';
    throw error;
  }
  const problem = problemOf(packed, checkpoint);
  if (problem !== null) {
    if (!(await isSureOfStore(deps, stop))) return 'stopped';
    log.error('cold.broken', { day, problem });
    await store.coldDays.markBroken({ day, problem }, AGAIN_HOURS.broken);
    return 'broken';
  }
  const former = await store.coldDays.findManifest(day);
  const replaces = former?.manifestHash ?? null;
  const manifest = await storeManifest(deps, checkpoint, { tables: packed.tables, replaces }, stop);
  if (!(await isSureOfStore(deps, stop))) return 'stopped';
  if (await store.coldDays.record(day, manifest, why))
    log.info('cold.packed', { day, receipts: packed.treeSize, manifestHash: manifest.manifestHash });
  // Another node was faster and recorded the same rows, or the day was brought back meanwhile.
  else await removeUnrecorded(deps, day, manifest, stop);
  return 'packed';
};

/**
 * An unrecorded manifest that stays in the store would prevent for ever that the objects which it names are deleted.
 */
const removeUnrecorded = async (
  { store, objects }: PackDaysDeps,
  day: Day,
  { manifestHash }: ColdManifest,
  stop: AbortSignal,
): Promise<void> => {
  const manifests = await store.coldDays.listManifests(day);
  if (manifests.every((one) => one.manifestHash !== manifestHash))
    await objects.delete(manifestName(day, manifestHash), stop);
};
