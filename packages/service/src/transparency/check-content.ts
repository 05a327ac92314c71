/**
 * Checks that the stored receipts are still those that were published (protocol §12). Every night the receipts of each
 * published day are read again, and both trees are built from them. The tree over the ids shows receipts that vanished
 * or were added; the tree over the hashes of their bytes shows those that were altered.
 */
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { StoreError } from '../ports/store.ts';
import { buildDayTree, sha256Text } from './day-tree.ts';

type Deps = Pick<ServiceDeps, 'store' | 'log'>;

const EVERY_HOURS = 24;
/** Number of due days that are listed at once. */
const BATCH = 16;

/**
 * Checks the days that are due. A broken day is logged every night until an operator repairs it. A day that cannot be
 * read does not keep the others from being checked: the round goes on, and rejects at its end.
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
