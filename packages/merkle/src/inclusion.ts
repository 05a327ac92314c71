/** Inclusion proofs (RFC 6962 §2.1.1) and their verification (RFC 9162 §2.1.3.2). */
import { hashNode, isHash, isSameHash, portableSha256, type Sha256 } from './hash.ts';

/** That the leaf at `index` is in a tree of `size` leaves; of which tree, its root says. */
export interface Inclusion {
  readonly leafHash: Uint8Array;
  readonly index: number;
  readonly size: number;
  /** The siblings from the leaf to the root, 32 bytes each. */
  readonly path: readonly Uint8Array[];
}

/**
 * Whether the leaf is in the tree with this root. False, never an error, whatever it is given. Root and size must come
 * from where they are trusted, such as a signed checkpoint: a root does not tell its size, so a proof may hold for the
 * sizes of other trees in which the way to the leaf looks the same.
 */
export const verifyInclusion = (
  inclusion: Inclusion,
  root: Uint8Array,
  sha256: Sha256 = portableSha256,
): boolean => {
  const computed = rootOfInclusion(inclusion, sha256);
  return computed !== null && isSameHash(computed, root);
};

/** The root to which the proof leads, or null where there can be no such proof: an index, a hash or a path that does not fit. */
export const rootOfInclusion = (
  { leafHash, index, size, path }: Inclusion,
  sha256: Sha256 = portableSha256,
): Uint8Array | null => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) return null;
  if (!isHash(leafHash) || !path.every(isHash)) return null;
  let hash = leafHash;
  // The position of the hash in its row, and of the last hash there. No bit operators: these end at 32 bits.
  let at = index;
  let last = size - 1;
  let used = 0;
  for (; last > 0; last = half(last), at = half(at)) {
    if (at % 2 === 0 && at === last) continue; // moves up as it is
    const sibling = path[used++];
    if (sibling === undefined) return null;
    hash = at % 2 === 0 ? hashNode(hash, sibling, sha256) : hashNode(sibling, hash, sha256);
  }
  return used === path.length ? hash : null;
};

const half = (value: number): number => Math.floor(value / 2);
