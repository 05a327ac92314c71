/**
 * Proves that a receipt is a leaf of its day (interface §InclusionProof), from stored tiles: the tree of the day is not
 * built again.
 */
import {
  formatHash,
  HASH_BYTES,
  hashLeaf,
  type ProvenInclusion,
  proveInclusionFromTiles,
  TILE_HASHES,
} from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import type { ReceiptId } from '@svc/protocol';
import { dayOfReceipt } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { sha256Text } from './day-tree.ts';
import { isReinstated } from './reinstated-days.ts';

type Deps = Pick<ServiceDeps, 'store' | 'log'>;

export type InclusionAnswer =
  | { readonly kind: 'pending'; readonly day: Day }
  | {
      readonly kind: 'proven';
      readonly checkpoint: CheckpointRecord;
      /** Hex. */
      readonly leaf: string;
      readonly leafIndex: number;
      /** Hex, from the leaf to the root. */
      readonly auditPath: readonly string[];
    };

/**
 * The proof; `pending` until the day is closed. `NOT_FOUND` for a receipt that does not exist, and when a restore put
 * the day back without the leaves that the proof needs. `INTERNAL` when the stored rows of another day do not lead to
 * the published root.
 */
export const getInclusion = async (deps: Deps, receiptId: ReceiptId): Promise<InclusionAnswer> => {
  const { store } = deps;
  const day = dayOfReceipt(receiptId);
  if (day === null || (await store.receipts.find(receiptId)) === null)
    throw notFound(`This service has no Receipt ${receiptId}.`);
  const checkpoint = await store.checkpoints.find(day);
  if (checkpoint === null) return { kind: 'pending', day };
  const proof = await prove(deps, checkpoint, receiptId);
  if (proof === null || sha256Text(proof.root) !== checkpoint.root) {
    if (await isReinstated(deps, day))
      throw notFound(
        `A restore put ${day} back without all of its leaves: no proof is left. See GET /restores.`,
      );
    deps.log.error('checkpoint.mismatch', { day, receiptId });
    throw internal(`the receipts of ${day} do not lead to its published root`);
  }
  return {
    kind: 'proven',
    checkpoint,
    leaf: formatHash(proof.leafHash),
    leafIndex: proof.index,
    auditPath: proof.path.map(formatHash),
  };
};

/** Null when the receipt is not where the tiles say it must be. */
const prove = async (
  { store: { checkpoints } }: Deps,
  { day, treeSize }: CheckpointRecord,
  receiptId: ReceiptId,
): Promise<ProvenInclusion | null> => {
  const place = await checkpoints.findLeafTile(day, receiptId);
  const before = (place?.index ?? 0) * TILE_HASHES;
  const start = place === null ? null : { at: place.firstReceiptId };
  const receiptIds = await checkpoints.listReceiptIds(day, start, Math.min(TILE_HASHES, treeSize - before));
  const position = receiptIds.indexOf(receiptId);
  if (position < 0) return null;
  const leaves = new Uint8Array(receiptIds.length * HASH_BYTES);
  for (const [i, id] of receiptIds.entries()) leaves.set(hashLeaf(id, nativeSha256), i * HASH_BYTES);
  const loadTile = async (level: number, index: number): Promise<Uint8Array> => {
    if (level === 0) return leaves;
    const tile = await checkpoints.findTile(day, level, index);
    return tile?.hashes ?? new Uint8Array(0);
  };
  return proveInclusionFromTiles(before + position, treeSize, loadTile, nativeSha256).catch(tileFault);
};

const tileFault = (error: unknown): null => {
  if (error instanceof Error && (error.name === 'TileError' || error instanceof RangeError)) return null;
  throw error;
};
