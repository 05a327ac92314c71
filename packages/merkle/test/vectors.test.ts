import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  CompactRange,
  formatHash,
  hashLeaf,
  MerkleTree,
  parseHash,
  portableSha256,
  verifyInclusion,
} from '../src/index.ts';
import { nativeSha256 } from '../src/native.ts';
import { leafOf, rootOf } from './rfc6962.ts';

const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8')) as T;

interface Described {
  readonly description: string;
}

const vectors = read<{
  readonly receipts: {
    readonly ids: readonly string[];
    readonly leaves: readonly string[];
  };
  readonly roots: readonly { readonly size: number; readonly root: string }[];
  readonly numbered: readonly (Described & { readonly size: number; readonly root: string })[];
  readonly inclusion: readonly (Described & {
    readonly leaf: string;
    readonly leaf_index: number;
    readonly tree_size: number;
    readonly audit_path: readonly string[];
    readonly root: string;
    readonly expected: boolean;
  })[];
}>('merkle.json');

const hash = (hex: string): Uint8Array => parseHash(hex) ?? new Uint8Array(0);
const { ids, leaves } = vectors.receipts;

describe.each([
  ['portable', portableSha256],
  ['native', nativeSha256],
])('the published trees with %s hashing', (_, sha256) => {
  it('have the leaf hashes of their Receipt ids, in order', () => {
    expect(ids.map((id) => formatHash(hashLeaf(id, sha256)))).toEqual(leaves);
    expect(ids.map((id) => formatHash(leafOf(id)))).toEqual(leaves);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('have the roots that MerkleTree, CompactRange and the recursion of RFC 6962 compute', () => {
    expect(vectors.roots.map(({ size }) => size)).toEqual(
      Array.from({ length: ids.length + 1 }, (_, i) => i),
    );
    for (const { size, root } of vectors.roots) {
      const first = leaves.slice(0, size).map(hash);
      const range = new CompactRange(sha256);
      first.forEach((leaf) => void range.push(leaf));
      for (const found of [new MerkleTree(first, sha256).root, range.root(), rootOf(first)])
        expect(formatHash(found)).toBe(root);
    }
  });

  it.each(vectors.numbered)(
    'have the root that CompactRange computes: $size leaves, $description',
    ({ size, root }) => {
      const range = new CompactRange(sha256);
      for (let i = 0; i < size; i++) range.push(hashLeaf(String(i), sha256));
      expect(formatHash(range.root())).toBe(root);
    },
  );

  it.each(vectors.inclusion)(
    'decide inclusion as stated: $description',
    ({ leaf, leaf_index, tree_size, audit_path, root, expected }) => {
      const inclusion = {
        ...{ leafHash: hash(leaf), index: leaf_index, size: tree_size },
        path: audit_path.map(hash),
      };
      expect(verifyInclusion(inclusion, hash(root), sha256)).toBe(expected);
    },
  );
});
