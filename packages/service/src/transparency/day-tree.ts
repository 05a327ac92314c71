/**
 * Builds the two trees of a day in one pass over its receipts. The published tree is over the receipt ids (interface
 * §Transparency). The internal tree is over the hashes of the receipts' bytes, which the leaves do not cover (protocol
 * §12). Memory is bounded by two runs of leaves. An API node closes days while it verifies, so the event loop is
 * released within each millisecond.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompactRange, formatHash, hashLeaf, TILE_HASHES, TileBuilder } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import type { CheckpointRepository, Day, LeafRun, LeafStart, TileRecord } from '../ports/checkpoints.ts';

export interface DayTree {
  readonly treeSize: number;
  readonly root: Uint8Array;
  readonly contentRoot: Uint8Array;
  readonly firstReceiptId: ReceiptId | null;
  readonly lastReceiptId: ReceiptId | null;
  readonly tiles: readonly TileRecord[];
}

/** Leaves read at once. */
const RUN = 1_024;
/** Leaves hashed without a pause: well below a millisecond of work. */
export const WITHOUT_PAUSE = 256;

type ListLeaves = CheckpointRepository['listLeaves'];

/**
 * Every run of leaves of a day. The next run is read while the caller processes the present one. `idsOf`: the receipt
 * ids of a run.
 */
export async function* runsOf<Run>(
  list: (start: LeafStart) => Promise<Run>,
  idsOf: (run: Run) => readonly ReceiptId[],
): AsyncGenerator<Run> {
  let next = list(null);
  for (;;) {
    const run = await next;
    const last = idsOf(run).at(-1);
    if (last === undefined) return;
    next = list({ after: last });
    // Awaited later, if the reader goes on; until then a rejection must not count as unhandled.
    next.catch(() => {});
    yield run;
  }
}

/** Builds the trees of a day. Once `stop` is aborted it ends early, and its result must not be used. */
export const buildDayTree = async (
  listLeaves: ListLeaves,
  day: Day,
  stop?: AbortSignal,
): Promise<DayTree> => {
  const tiles: TileRecord[] = [];
  const firstIds: ReceiptId[] = [];
  const tree = new TileBuilder(({ level, index, hashes }) => {
    const below = index * TILE_HASHES;
    const firstReceiptIds = level === 1 ? firstIds.slice(below, below + TILE_HASHES) : null;
    tiles.push({ level, index, hashes, firstReceiptIds });
  }, nativeSha256);
  const content = new CompactRange(nativeSha256);
  let lastReceiptId: ReceiptId | null = null;

  const runs = runsOf<LeafRun>(
    (start) => listLeaves(day, start, RUN),
    (run) => run.receiptIds,
  );
  for await (const { receiptIds, contentHashes } of runs) {
    if (stop?.aborted === true) break;
    for (const [i, receiptId] of receiptIds.entries()) {
      if (content.size % WITHOUT_PAUSE === 0) await nextTurn();
      if (content.size % TILE_HASHES === 0) firstIds.push(receiptId);
      tree.push(hashLeaf(receiptId, nativeSha256));
      content.push(hashLeaf(contentHashes[i] ?? new Uint8Array(0), nativeSha256));
      lastReceiptId = receiptId;
    }
  }
  const { size, root } = tree.finish();
  return {
    treeSize: size,
    root,
    contentRoot: content.root(),
    firstReceiptId: firstIds[0] ?? null,
    lastReceiptId,
    tiles,
  };
};

/** The bytes of a hash in its text form. */
export const bytesOf = (hash: Sha256): Uint8Array => Buffer.from(hash.slice('sha256:'.length), 'hex');

export const sha256Text = (hash: Uint8Array): Sha256 => `sha256:${formatHash(hash)}` as Sha256;
