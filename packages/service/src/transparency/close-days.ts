/**
 * Closes days (interface §Transparency, protocol §12): every ended day since the first, in order, including days
 * without receipts. A day is first closed to receipts. If the work is interrupted after that, it is repeated with the
 * same leaves. When two processes close one day, one of them publishes it.
 */

import { dayStartMs, sha256Of } from '@svc/protocol';
import { buildCheckpoint, dayAfter, signCheckpoint } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { buildDayTree, bytesOf, sha256Text } from './day-tree.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'holds' | 'crypto' | 'identity'>;

export interface ClosedDays {
  /** The days that this call closed, ascending. */
  readonly closed: readonly Day[];
  /** The latest day that is closed, whoever closed it. */
  readonly latest: Day | null;
}

/**
 * Begins no further day once `stop` is aborted. While decisions are held it rejects with `SERVICE_UNAVAILABLE`; when
 * storage fails, with `StoreError`. The days closed until then stay closed.
 */
export const closeDays = async (deps: Deps, stop?: AbortSignal): Promise<ClosedDays> => {
  const { checkpoints } = deps.store;
  const closed: Day[] = [];
  let previous = await checkpoints.findLatest();
  while (stop?.aborted !== true) {
    await deps.clock.resync();
    deps.holds.assertNone();
    const day = previous === null ? await checkpoints.firstDay() : dayAfter(previous.day);
    if (deps.clock.nowMs() < dayStartMs(dayAfter(day)) || !(await checkpoints.closeDay(day))) break;
    if (await publish(deps, day, previous, stop)) closed.push(day);
    const published = await checkpoints.find(day);
    // Stopped before the day was published: the next call continues with this day.
    if (published === null) break;
    previous = published;
  }
  return { closed, latest: previous?.day ?? null };
};

/** False when another process has published this day, or when `stop` was aborted. */
const publish = async (
  deps: Deps,
  day: Day,
  previous: CheckpointRecord | null,
  stop?: AbortSignal,
): Promise<boolean> => {
  const { clock, crypto, identity, store } = deps;
  const tree = await buildDayTree(store.checkpoints.listLeaves, day, stop);
  if (stop?.aborted === true) return false;
  const { treeSize, firstReceiptId, lastReceiptId } = tree;
  const previousRoot = previous?.root ?? null;
  const { signer } = identity.statusKeys;
  const closedAtSeconds = Math.floor(clock.nowMs() / 1000);
  const jws = await signCheckpoint(
    buildCheckpoint({
      ...{ serviceDid: identity.did, day, treeSize, firstReceiptId, lastReceiptId, closedAtSeconds },
      root: tree.root,
      previousRoot: previousRoot && bytesOf(previousRoot),
    }),
    signer,
  );
  const checkpoint = {
    ...{ day, treeSize, previousRoot, firstReceiptId, lastReceiptId, jws },
    root: sha256Text(tree.root),
    contentRoot: sha256Text(tree.contentRoot),
    kid: signer.kid,
    hash: sha256Of(crypto, jws),
  };
  return store.checkpoints.insert(checkpoint, tree.tiles);
};
