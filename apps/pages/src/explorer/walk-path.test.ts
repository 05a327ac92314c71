/** The drawing and the library agree on every leaf of every small tree, and both refuse what is not a path. */
import { formatHash, hashLeaf, MerkleTree } from '@svc/merkle';
import { describe, expect, it } from 'vitest';
import { walkPath } from './walk-path.ts';

const proofOf = (index: number, size: number) => {
  const tree = new MerkleTree(Array.from({ length: size }, (_, i) => hashLeaf(`leaf ${i}`)));
  const { leafHash, path } = tree.proveInclusion(index);
  return {
    root: formatHash(tree.root),
    path: {
      leaf: formatHash(leafHash),
      leaf_index: index,
      tree_size: size,
      audit_path: path.map(formatHash),
    },
  };
};

describe('walkPath', () => {
  it('ends at the root from every leaf of trees of 2 to 33 leaves', () => {
    for (let size = 2; size <= 33; size++)
      for (let index = 0; index < size; index++) {
        const { root, path } = proofOf(index, size);
        expect(walkPath(path).at(-1)?.hash).toBe(root);
      }
  });

  it('has no step in a tree of one leaf', () => {
    expect(walkPath(proofOf(0, 1).path)).toEqual([]);
  });

  it('ends with the path, and at a sibling that is no hash', () => {
    const { path } = proofOf(3, 8);
    expect(walkPath({ ...path, audit_path: path.audit_path.slice(0, 1) })).toHaveLength(1);
    expect(walkPath({ ...path, audit_path: ['x'] })).toEqual([]);
  });
});
