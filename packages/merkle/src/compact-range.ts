/**
 * The root of a tree whose leaves pass by once, in memory for one hash per level (RFC 6962 §2.1). What is kept is the
 * compact range: the roots of the complete subtrees, as the binary digits of the number of leaves tell them.
 */
import { assertHash, copyOf, emptyRoot, hashNode, portableSha256, type Sha256 } from './hash.ts';

/**
 * The root of leaves that pass by once, with one hash per level in memory. SHA-256 in portable JavaScript unless given.
 */
export class CompactRange {
  readonly #sha256: Sha256;
  /** At `height` the root of a complete subtree of 2^height leaves, or null; the higher, the further left. */
  readonly #subtrees: (Uint8Array | null)[] = [];
  #size = 0;

  constructor(sha256: Sha256 = portableSha256) {
    this.#sha256 = sha256;
  }

  /** How many leaves there are. */
  get size(): number {
    return this.#size;
  }

  /** Appends a leaf by its hash. Throws RangeError on other than 32 bytes. */
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

  /** The root of all leaves so far; more may follow. */
  root(): Uint8Array {
    let root: Uint8Array | null = null;
    for (const subtree of this.#subtrees)
      if (subtree !== null) root = root === null ? subtree : hashNode(subtree, root, this.#sha256);
    return root ?? emptyRoot(this.#sha256);
  }
}
