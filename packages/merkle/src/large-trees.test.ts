/** Trees of sizes at which counters, rows and tiles overflow: the laws of small trees hold there too. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createInternedSha256 } from '../test/interned-sha256.ts';
import { flip, numberedLeaves } from '../test/rfc6962.ts';
import { storedTree } from '../test/stored-tree.ts';
import { CompactRange, HASH_BYTES, MerkleTree, TileBuilder, verifyInclusion } from './index.ts';
import { nativeSha256 } from './native.ts';

/** Bytes in use after a garbage collection. */
const usedAfterCollection = (): number => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Leaves at the edges of the tiles, and some between. */
const indexesOf = (size: number): number[] => {
  const edges = [0, 1, 127, 128, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 131_071, 131_072, size / 2];
  const picked = [...edges, size - 257, size - 256, size - 255, size - 2, size - 1].map(Math.floor);
  return [...new Set(picked)].filter((index) => index >= 0 && index < size);
};

const TILED = [513, 1023, 1024, 1025, 65_280, 65_281, 65_535, 65_536, 65_537, 65_793, 131_073];
it.each(sampled({ quick: [1023, 1024, 1025], deep: TILED }))(
  'tiles of %i leaves give the root of the whole tree, and its proofs at their edges',
  async (size) => {
    const { sha256, asLeaf } = createInternedSha256();
    const leaves = Array.from({ length: size }, (_, i) => asLeaf(i));
    const { prove, root } = storedTree(leaves, sha256);
    const tree = new MerkleTree(leaves, sha256);
    expect(root).toEqual(tree.root);
    for (const index of indexesOf(size))
      expect(await prove(index)).toEqual({ ...tree.proveInclusion(index), root });
  },
);

/** Besides small trees: each power of two and its neighbours, and evenly spread sizes. */
const isSampled = (size: number) =>
  size <= 130 || size % 257 === 0 || [size - 1, size, size + 1].some((near) => (near & (near - 1)) === 0);
const SIZES = Array.from({ length: 4097 }, (_, size) => size);
const SAMPLE = new Set(sampled({ quick: SIZES.filter(isSampled), deep: SIZES }));

it(`every leaf of ${SAMPLE.size} sizes from 0 to 4096 has a proof that verifies against the streamed root`, () => {
  const { sha256, asLeaf } = createInternedSha256();
  const all = Array.from({ length: 4096 }, (_, i) => asLeaf(i));
  const range = new CompactRange(sha256);
  let verified = 0;
  for (let size = 0; size <= all.length; size++) {
    const [leaf] = all.slice(size - 1, size);
    if (size > 0 && leaf !== undefined) range.push(leaf);
    if (!SAMPLE.has(size)) continue;
    const root = size > 0 ? range.root() : new Uint8Array(0);
    const tree = size > 0 ? new MerkleTree(all.slice(0, size), sha256) : null;
    for (let index = 0; index < size; index++)
      if (tree !== null && verifyInclusion(tree.proveInclusion(index), root, sha256)) verified++;
  }
  expect(verified).toBe([...SAMPLE].reduce((sum, size) => sum + size, 0));
}, 180_000);

it('a proof is refused after any bit of its leaf, its path or the root is flipped, in trees of up to 4096 leaves', () => {
  const many = numberedLeaves(4_096);
  const sizes = [10, 255, 256, 257, 1_000, 2_047, 2_049, 4_095, 4_096];
  const trees = sizes.map((size) => new MerkleTree(many.slice(0, size), nativeSha256));
  fc.assert(
    fc.property(fc.constantFrom(...trees), fc.nat(), fc.nat(), fc.nat(255), (tree, place, part, bit) => {
      const good = tree.proveInclusion(place % tree.size);
      const hashes = [tree.root, good.leafHash, ...good.path];
      const [root = tree.root, leafHash = tree.root, ...path] = hashes.map((hash, i) =>
        i === part % hashes.length ? flip(hash, bit) : hash,
      );
      expect(verifyInclusion(good, tree.root, nativeSha256)).toBe(true);
      expect(verifyInclusion({ ...good, leafHash, path }, root, nativeSha256)).toBe(false);
    }),
    { numRuns: sampled({ quick: 300, deep: 2_000 }) },
  );
});

const STREAMED = sampled({ quick: 100_000, deep: 200_000 });
it(`a streamed root keeps less than 3 MB of memory after ${STREAMED} leaves`, () => {
  const [range, builder] = [new CompactRange(nativeSha256), new TileBuilder(() => {}, nativeSha256)];
  const leaf = new Uint8Array(HASH_BYTES);
  const pushLeaves = (count: number) => {
    for (let i = 0; i < count; i++) {
      new DataView(leaf.buffer).setUint32(0, i);
      range.push(leaf);
      builder.push(leaf);
    }
  };
  pushLeaves(10_000);
  const taken: number[] = [];
  // Other work of the process may allocate memory during one or two rounds.
  while (taken.length < 3 && taken.every((bytes) => bytes >= 3_000_000)) {
    const before = usedAfterCollection();
    pushLeaves(STREAMED);
    taken.push(usedAfterCollection() - before);
  }
  // If the leaves were kept, they alone would take twice 3.2 MB for each 100,000.
  expect(Math.min(...taken)).toBeLessThan(3_000_000);
  expect(builder.finish()).toEqual({ size: 10_000 + STREAMED * taken.length, root: range.root() });
});
