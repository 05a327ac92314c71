/**
 * Tiles: a closed tree cut into subtrees of 8 rows, so that a proof reads few of them and builds nothing anew.
 *
 * Level 0 is the row of leaf hashes; level L + 1 has one hash for every 256 of level L, the root over these. A tile is
 * 256 neighbours of one level, or what is left at the end. As 256 is a power of two, the tree over the hashes of a
 * level, the last of which may stand for fewer leaves, is the tree over the leaves (RFC 6962 §2.1). So one tile from
 * each level holds a whole proof, also at the right edge. A tree of 10^7 leaves has 154 tiles above its leaves, and
 * three tiles hold a proof.
 */
import { HASH_BYTES } from './hash.ts';
import type { Row } from './levels.ts';

/** Hashes in a full tile, and how many hashes of one level a hash of the next one stands for. */
export const TILE_HASHES = 256;

/** Up to 256 hashes of one level, as stored: what an inclusion proof reads. */
export interface Tile {
  /** 0: leaf hashes. */
  readonly level: number;
  /** Number of the tile in its level, left to right, from 0. The first leaf below is the one at `index` · 256^(`level` + 1). */
  readonly index: number;
  /** 1 to 256 hashes of 32 bytes, one behind the other. */
  readonly hashes: Uint8Array;
}

/** One behind the other, as a tile is stored. */
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

/** How many hashes a level has in a tree of `size` leaves. */
export const hashesInLevel = (size: number, level: number): number => Math.ceil(size / TILE_HASHES ** level);

/** How many hashes a tile has in a tree of `size` leaves. */
export const hashesInTile = (size: number, level: number, index: number): number =>
  Math.min(TILE_HASHES, hashesInLevel(size, level) - index * TILE_HASHES);

/** A stored tile is not what the tree needs it to be: damaged, missing, or of another tree. */
export class TileError extends Error {
  override readonly name = 'TileError';
}
