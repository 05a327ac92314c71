import { sampled } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { createInternedSha256 } from '../test/interned-sha256.ts';
import { numberedLeaves, rootOf } from '../test/rfc6962.ts';
import { storedTree } from '../test/stored-tree.ts';
import {
  CompactRange,
  emptyRoot,
  HASH_BYTES,
  MerkleTree,
  proveInclusionFromTiles,
  TileBuilder,
  TileError,
  verifyInclusion,
} from './index.ts';
import { nativeSha256 } from './native.ts';

const many = numberedLeaves(1100);

describe('tiles', () => {
  it.each(sampled({ quick: [1, 256, 257], deep: [1, 2, 255, 256, 257] }))(
    'of %i leaves give the root and every proof of the whole tree',
    async (size) => {
      const leaves = many.slice(0, size);
      const { prove, root } = storedTree(leaves);
      const tree = new MerkleTree(leaves, nativeSha256);
      expect(root).toEqual(rootOf(leaves));
      for (let index = 0; index < size; index++)
        expect(await prove(index)).toEqual({ ...tree.proveInclusion(index), root });
    },
  );

  it('are emitted once each, from left to right, and only those that the tree needs', () => {
    const { sha256, asLeaf } = createInternedSha256();
    const tilesOf = (size: number) =>
      storedTree(
        Array.from({ length: size }, () => asLeaf(0)),
        sha256,
      ).tiles.map(({ level, index, hashes }) => `${level}/${index}:${hashes.length / HASH_BYTES}`);
    expect(tilesOf(0)).toEqual([]);
    expect(tilesOf(256)).toEqual([]);
    expect(tilesOf(257)).toEqual(['1/0:2']);
    expect(tilesOf(65_536)).toEqual(['1/0:256']);
    expect(tilesOf(65_537)).toEqual(['1/0:256', '1/1:1', '2/0:2']);
    expect(tilesOf(200_000)).toEqual(['1/0:256', '1/1:256', '1/2:256', '1/3:14', '2/0:4']);
  });

  it('are read once per level for a proof', async () => {
    const { sha256, asLeaf } = createInternedSha256();
    const { prove, loaded } = storedTree(
      Array.from({ length: 70_000 }, (_, i) => asLeaf(i)),
      sha256,
    );
    await prove(69_999);
    expect(loaded).toEqual(['0/273', '1/1', '2/0']);
  });

  it('that are damaged, cut short, missing or swapped give an error or another root', async () => {
    const leaves = many.slice(0, 600);
    const { prove, load } = storedTree(leaves);
    const { load: otherLoad } = storedTree(numberedLeaves(601).slice(1));
    const changed =
      (level: number, change: (hashes: Uint8Array) => Uint8Array) => (l: number, i: number, n: number) =>
        l === level ? change(Uint8Array.from(load(l, i, n))) : load(l, i, n);
    const flipAt = (at: number) => (hashes: Uint8Array) => {
      hashes[at] = (hashes[at] ?? 0) ^ 1;
      return hashes;
    };
    await expect(prove(300, changed(0, flipAt(0)))).rejects.toThrow(TileError);
    await expect(prove(300, changed(1, flipAt(HASH_BYTES)))).rejects.toThrow(
      'tile 1 of level 0 does not hash',
    );
    await expect(
      prove(
        300,
        changed(0, (hashes) => hashes.subarray(HASH_BYTES)),
      ),
    ).rejects.toThrow(TileError);
    await expect(
      prove(
        300,
        changed(0, () => new Uint8Array(0)),
      ),
    ).rejects.toThrow(TileError);
    await expect(prove(300, (l, i, n) => (l === 0 ? otherLoad : load)(l, i, n))).rejects.toThrow(TileError);
    await expect(prove(300, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    // A byte that no hash in the tile above covers is covered by the root: changing it gives another root.
    const { root } = await prove(300, changed(1, flipAt(0)));
    expect(root).not.toEqual((await prove(300)).root);
  });

  it('must have exactly as many hashes as the size requires, also without a tile above them', async () => {
    const { prove, load } = storedTree(many.slice(0, 10));
    const resized = (bytes: number) => async (level: number, index: number, count: number) => {
      const sized = new Uint8Array(bytes);
      sized.set(load(level, index, count).subarray(0, bytes));
      return sized;
    };
    await expect(prove(3, resized(10 * HASH_BYTES))).resolves.toMatchObject({ index: 3 });
    for (const bytes of [0, 9 * HASH_BYTES, 10 * HASH_BYTES - 1, 10 * HASH_BYTES + 1, 11 * HASH_BYTES])
      await expect(prove(3, resized(bytes))).rejects.toMatchObject({
        name: 'TileError',
        message: `tile 0 of level 0 must have 10 hashes, not ${bytes} bytes`,
      });
  });

  it('give a RangeError for a leaf outside the tree', async () => {
    const { prove } = storedTree(many.slice(0, 10));
    for (const index of [-1, 10, 0.5, Number.NaN]) await expect(prove(index)).rejects.toThrow(RangeError);
    await expect(proveInclusionFromTiles(0, 0, () => new Uint8Array(0))).rejects.toThrow(RangeError);
  });

  it('give a proof that verifies against the root', async () => {
    const { prove, root } = storedTree(many);
    const inclusion = await prove(1024);
    expect(verifyInclusion(inclusion, root)).toBe(true);
    expect(inclusion.root).toEqual(root);
  });
});

describe('the streamed root', () => {
  it('is that of RFC 6962 at every size from 0 to 300, and can be read between two leaves', () => {
    const range = new CompactRange(nativeSha256);
    const builderRoot = (size: number) => storedTree(many.slice(0, size)).root;
    for (let size = 0; size <= 300; size++) {
      expect(range.size).toBe(size);
      expect(range.root()).toEqual(rootOf(many.slice(0, size)));
      expect(builderRoot(size)).toEqual(range.root());
      range.push(many[size] ?? emptyRoot());
    }
  });

  it('does not change if the buffer of a leaf changes afterwards', () => {
    const buffer = new Uint8Array(HASH_BYTES);
    const range = new CompactRange();
    const builder = new TileBuilder(() => {});
    const leaves = many.slice(0, 7);
    for (const leaf of leaves) {
      buffer.set(leaf);
      range.push(buffer);
      builder.push(buffer);
    }
    buffer.fill(0);
    expect(range.root()).toEqual(rootOf(leaves));
    expect(builder.finish().root).toEqual(rootOf(leaves));
  });

  it('refuses a leaf that is not 32 bytes long, and TileBuilder refuses a leaf after it has finished', () => {
    expect(() => new CompactRange().push(new Uint8Array(31))).toThrow(RangeError);
    const builder = new TileBuilder(() => {});
    expect(() => builder.push(new Uint8Array(33))).toThrow(RangeError);
    expect(builder.finish()).toEqual({ size: 0, root: emptyRoot() });
    expect(() => builder.push(emptyRoot())).toThrow('finished');
  });
});
