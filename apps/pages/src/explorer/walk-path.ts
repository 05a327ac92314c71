/**
 * Walks an audit path step by step, for drawing (RFC 9162 §2.1.3.2). The verdict is that of `@svc/merkle`; a test
 * checks that the two agree.
 */
import { formatHash, parseHash, rootOfInclusion } from '@svc/merkle';

export type PathStep =
  | {
      readonly kind: 'joined';
      /** The side of the sibling. */
      readonly side: 'left' | 'right';
      /** 64 hex characters, as is `hash`, which is the parent's. */
      readonly sibling: string;
      readonly hash: string;
    }
  /** The last node of an odd row: it moves up unchanged. */
  | { readonly kind: 'carried'; readonly hash: string };

export interface AuditPath {
  /** Hex, as is each hash of the path. */
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

/** Computed as the root of a tree of two leaves. */
const parentOf = (hash: string, sibling: string, side: 'left' | 'right'): string | null => {
  const [leafHash, other] = [parseHash(hash), parseHash(sibling)];
  if (leafHash === null || other === null) return null;
  const root = rootOfInclusion({ leafHash, index: side === 'left' ? 1 : 0, size: 2, path: [other] });
  return root && formatHash(root);
};
