/** Inclusion proofs (RFC 6962 §2.1.1) and their verification (RFC 9162 §2.1.3.2). */
import { hashNode, isHash, isSameHash, portableSha256, type Sha256 } from './hash.ts';

/** States that the leaf at `index` is in a tree of `size` leaves. The root says which tree that is. */
export interface Inclusion {
  readonly leafHash: Uint8Array;
  readonly index: number;
  readonly size: number;
  /** The siblings from the leaf to the root, 32 bytes each. */
  readonly path: readonly Uint8Array[];
}

/**
 * Whether the leaf is in the tree with this root. Returns false and never throws, whatever its arguments are.
 *
 * Root and size must come from a trusted source, such as a signed checkpoint. A root does not determine its size: a
 * proof may also verify with the sizes of other trees in which the path to the leaf has the same form.
 */
export const verifyInclusion = (
  inclusion: Inclusion,
  root: Uint8Array,
  sha256: Sha256 = portableSha256,
): boolean => {
  const computed = rootOfInclusion(inclusion, sha256);
  return computed !== null && isSameHash(computed, root);
};

/** The root that the proof leads to; null if index, hash or path make a proof impossible. */
export const rootOfInclusion = (
  { leafHash, index, size, path }: Inclusion,
  sha256: Sha256 = portableSha256,
): Uint8Array | null => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) return null;
  if (!isHash(leafHash) || !path.every(isHash)) return null;
  let hash = leafHash;
  // The positions of the current hash and of the last hash in their row. No bit operators, because these work on 32
  // bits.
  let at = index;
  let last = size - 1;
  let used = 0;
  for (; last > 0; last = half(last), at = half(at)) {
    if (at % 2 === 0 && at === last) continue; // moves up unchanged
    const sibling = path[used++];
    if (sibling === undefined) return null;
    hash = at % 2 === 0 ? hashNode(hash, sibling, sha256) : hashNode(sibling, hash, sha256);
  }
  return used === path.length ? hash : null;
};

const half = (value: number): number => Math.floor(value / 2);
