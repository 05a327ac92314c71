/**
 * Computes the root of a tree from leaves that are pushed one after another, with one hash per level in memory (RFC
 * 6962 §2.1). It stores the compact range: the roots of the complete subtrees. The binary digits of the number of
 * leaves say which subtrees are complete.
 */
import { assertHash, copyOf, emptyRoot, hashNode, portableSha256, type Sha256 } from './hash.ts';

/**
 * Computes the root of leaves that are pushed one after another, with one hash per level in memory. Default SHA-256:
 * portable JavaScript.
 */
export class CompactRange {
  readonly #sha256: Sha256;
  /** At index `height` the root of a complete subtree of 2^height leaves, or null. A higher subtree is further left. */
  readonly #subtrees: (Uint8Array | null)[] = [];
  #size = 0;

  constructor(sha256: Sha256 = portableSha256) {
    this.#sha256 = sha256;
  }

  /** Number of leaves so far. */
  get size(): number {
    return this.#size;
  }

  /** Appends a leaf by its hash. Throws RangeError if that is not 32 bytes. */
  push(leafHash: Uint8Array): void {
    assertHash(leafHash);
    let hash = copyOf(leafHash);
    let height = 0;
    for (let left = this.#subtrees[height]; left; left = this.#subtrees[height]) {
      hash = hashNode(left, hash, this.#sha256);
      this.#subtrees[height++] = null;
    }
    this.#subtrees[height] = hash;
    this.#size++;
  }

  /** The root of all leaves so far. More leaves may follow. */
  root(): Uint8Array {
    let root: Uint8Array | null = null;
    for (const subtree of this.#subtrees)
      if (subtree !== null) root = root === null ? subtree : hashNode(subtree, root, this.#sha256);
    return root ?? emptyRoot(this.#sha256);
  }
}
