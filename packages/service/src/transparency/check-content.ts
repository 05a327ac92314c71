/**
 * Whether what is stored is still what was signed away (protocol §12): every night the receipts of each published day
 * are read again, and both trees built from them: over the ids, for receipts that vanished or appeared, and over the
 * hashes of their bytes, for those that were altered.
 */
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord } from '../ports/checkpoints.ts';
import { buildDayTree, sha256Text } from './day-tree.ts';

type Deps = Pick<ServiceDeps, 'store' | 'log'>;

const EVERY_HOURS = 24;
/** Read at one look for work. */
const BATCH = 16;

/** The days of one round. A day that is broken is in the log every night, until somebody mends it. */
export const checkContent = async (
  deps: Deps,
  stop: AbortSignal,
): Promise<{ readonly checked: number; readonly broken: number }> => {
  let checked = 0;
  let broken = 0;
  while (!stop.aborted) {
    const due = await deps.store.checkpoints.listDueForCheck(EVERY_HOURS, BATCH);
    if (due.length === 0) break;
    for (const checkpoint of due) {
      const isIntact = await isContentIntact(deps, checkpoint, stop);
      if (isIntact === null) break;
      await deps.store.checkpoints.recordCheck(checkpoint.day, isIntact);
      checked += 1;
      if (!isIntact) broken += 1;
    }
  }
  return { checked, broken };
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
