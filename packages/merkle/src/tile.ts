/**
 * Tiles: a closed tree, cut into subtrees of 8 rows, so that a proof reads few tiles and computes no part of the tree
 * again.
 *
 * Level 0 is the row of leaf hashes. Level L + 1 has one hash for every 256 hashes of level L: the root over them. A
 * tile is 256 consecutive hashes of one level, or those left at the end.
 *
 * As 256 is a power of two, the tree over the hashes of a level is the tree over the leaves (RFC 6962 §2.1), also if
 * the last hash stands for fewer leaves. So one tile of each level contains a whole proof, also at the right edge. A
 * tree of 10^7 leaves has 154 tiles above its leaves, and three tiles contain a proof.
 */
import { HASH_BYTES } from './hash.ts';
import type { Row } from './levels.ts';

/** Number of hashes in a full tile, and number of hashes of one level that one hash of the next level covers. */
export const TILE_HASHES = 256;

/** Up to 256 hashes of one level, as stored; inclusion proofs are read from tiles. */
export interface Tile {
  /** 0 is the level of leaf hashes. */
  readonly level: number;
  /**
   * Number of the tile in its level, from left to right, from 0. Its first leaf has the index `index` · 256^(`level` +
   * 1).
   */
  readonly index: number;
  /** 1 to 256 hashes of 32 bytes, concatenated. */
  readonly hashes: Uint8Array;
}

/** The hashes concatenated, as a tile is stored. */
export const packHashes = (row: Row): Uint8Array => {
  const packed = new Uint8Array(row.length * HASH_BYTES);
  row.forEach((hash, i) => {
    packed.set(hash, i * HASH_BYTES);
  });
  return packed;
};

export const unpackHashes = (packed: Uint8Array): Row =>
  Array.from({ length: packed.length / HASH_BYTES }, (_, i) =>
    packed.slice(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );

/** Number of hashes of a level in a tree of `size` leaves. */
export const hashesInLevel = (size: number, level: number): number => Math.ceil(size / TILE_HASHES ** level);

/** Number of hashes of a tile in a tree of `size` leaves. */
export const hashesInTile = (size: number, level: number, index: number): number =>
  Math.min(TILE_HASHES, hashesInLevel(size, level) - index * TILE_HASHES);

/** A stored tile does not fit the tree: it is damaged, missing or of another tree. */
export class TileError extends Error {
  override readonly name = 'TileError';
}
