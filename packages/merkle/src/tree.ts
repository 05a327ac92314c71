/**
 * A whole tree in memory with every row: twice the hashes of its leaves, and proofs without hashing. For a tree that is
 * too large for memory, see tile.ts.
 */
import { assertHash, copyOf, emptyRoot, portableSha256, type Sha256 } from './hash.ts';
import type { Inclusion } from './inclusion.ts';
import { pathThrough, type Row, rowsFrom } from './levels.ts';

/** A whole tree in memory (RFC 6962 §2.1), for many proofs. */
export class MerkleTree {
  readonly size: number;
  readonly root: Uint8Array;
  readonly #rows: readonly Row[];

  /** Throws RangeError if a leaf hash is not 32 bytes. */
  constructor(leafHashes: readonly Uint8Array[], sha256: Sha256 = portableSha256) {
    leafHashes.forEach(assertHash);
    this.size = leafHashes.length;
    this.#rows = rowsFrom(leafHashes.map(copyOf), sha256);
    this.root = this.#rows.at(-1)?.[0] ?? emptyRoot(sha256);
  }

  /** The proof of one leaf. Throws RangeError if there is no such leaf. */
  proveInclusion(index: number): Inclusion {
    const leafHash = this.#rows[0]?.[index];
    if (leafHash === undefined) throw new RangeError(`there is no leaf ${index} in a tree of ${this.size}`);
    return { leafHash, index, size: this.size, path: pathThrough(this.#rows, index) };
  }
}

/** The proof of one leaf, from the hashes of all leaves. Throws RangeError if there is no such leaf. */
export const proveInclusion = (
  index: number,
  leafHashes: readonly Uint8Array[],
  sha256: Sha256 = portableSha256,
): Inclusion => new MerkleTree(leafHashes, sha256).proveInclusion(index);
