/**
 * An audit path walked step by step, for drawing (RFC 9162 §2.1.3.2). The verdict is not taken from here: it is that of
 * `@svc/merkle`, and a test holds the two together.
 */
import { formatHash, parseHash, rootOfInclusion } from '@svc/merkle';

export type PathStep =
  | {
      readonly kind: 'joined';
      /** Where the sibling stands. */
      readonly side: 'left' | 'right';
      /** 64 hex characters each; `hash` is that of the parent. */
      readonly sibling: string;
      readonly hash: string;
    }
  /** The last of an odd row: it moves up as it is. */
  | { readonly kind: 'carried'; readonly hash: string };

export interface AuditPath {
  /** Hex, as is each of the path. */
  readonly leaf: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly audit_path: readonly string[];
}

/** The steps from the leaf towards the root, as far as the path goes. */
export const walkPath = ({
  leaf,
  leaf_index: index,
  tree_size: size,
  audit_path: path,
}: AuditPath): PathStep[] => {
  const steps: PathStep[] = [];
  let hash = leaf;
  let used = 0;
  for (let at = index, last = size - 1; last > 0; at = Math.floor(at / 2), last = Math.floor(last / 2)) {
    if (at % 2 === 0 && at === last) {
      steps.push({ kind: 'carried', hash });
      continue;
    }
    const sibling = path[used++];
    const side = at % 2 === 0 ? 'right' : 'left';
    const parent = sibling === undefined ? null : parentOf(hash, sibling, side);
    if (sibling === undefined || parent === null) return steps;
    hash = parent;
    steps.push({ kind: 'joined', side, sibling, hash });
  }
  return steps;
};

/** Two hashes are a tree of two leaves, whose root is their parent. */
const parentOf = (hash: string, sibling: string, side: 'left' | 'right'): string | null => {
  const [leafHash, other] = [parseHash(hash), parseHash(sibling)];
  if (leafHash === null || other === null) return null;
  const root = rootOfInclusion({ leafHash, index: side === 'left' ? 1 : 0, size: 2, path: [other] });
  return root && formatHash(root);
};
