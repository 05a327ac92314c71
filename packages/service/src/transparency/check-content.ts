/**
 * Whether what is stored is still what was signed away (protocol §12): every night the receipts of each published day
 * are read again, and both trees built from them: over the ids, for receipts that vanished or appeared, and over the
 * hashes of their bytes, for those that were altered.
 */
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { StoreError } from '../ports/store.ts';
import { buildDayTree, sha256Text } from './day-tree.ts';

type Deps = Pick<ServiceDeps, 'store' | 'log'>;

const EVERY_HOURS = 24;
/** Read at one look for work. */
const BATCH = 16;

/**
 * The days of one round. A day that is broken is in the log every night, until somebody mends it. One that cannot be read keeps
 * no other from being checked: the round goes on, and rejects at its end.
 */
export const checkContent = async (
  deps: Deps,
  stop: AbortSignal,
): Promise<{ readonly checked: number; readonly broken: number }> => {
  const counts = { checked: 0, broken: 0 };
  const unread: Day[] = [];
  let failure: StoreError | null = null;
  while (!stop.aborted) {
    const due = await deps.store.checkpoints.listDueForCheck(EVERY_HOURS, BATCH, unread);
    if (due.length === 0) break;
    for (const checkpoint of due) {
      const found = await checkDay(deps, checkpoint, stop);
      if (found === null) break;
      if (found instanceof StoreError) {
        unread.push(checkpoint.day);
        failure ??= found;
        continue;
      }
      counts.checked += 1;
      if (!found.isIntact) counts.broken += 1;
    }
  }
  if (failure !== null)
    throw new StoreError(failure.kind, `${unread.length} closed days could not be read: ${failure.message}`);
  return counts;
};

/** Null: stopped before the end. */
const checkDay = async (
  deps: Deps,
  checkpoint: CheckpointRecord,
  stop: AbortSignal,
): Promise<{ readonly isIntact: boolean } | StoreError | null> => {
  const { day } = checkpoint;
  try {
    const isIntact = await isContentIntact(deps, checkpoint, stop);
    if (isIntact === null) return null;
    await deps.store.checkpoints.recordCheck(day, isIntact);
    return { isIntact };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    deps.log.error('content.not_read', { day, error: error.message });
    return error;
  }
};

/** Null: stopped before the end. */
const isContentIntact = async (
  { store, log }: Deps,
  { day, treeSize, root, contentRoot }: CheckpointRecord,
  stop: AbortSignal,
): Promise<boolean | null> => {
  const tree = await buildDayTree(store.checkpoints.listLeavesAgain, day, stop);
  if (stop.aborted) return null;
  const found = {
    treeSize: tree.treeSize,
    root: sha256Text(tree.root),
    contentRoot: sha256Text(tree.contentRoot),
  };
  const isIntact = found.root === root && found.contentRoot === contentRoot;
  if (!isIntact)
    log.error('content.mismatch', {
      day,
      published: { treeSize, root, contentRoot },
      found,
    });
  return isIntact;
};
