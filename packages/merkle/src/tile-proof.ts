/** Builds inclusion proofs from stored tiles, one tile of each level. */
import { HASH_BYTES, isSameHash, portableSha256, type Sha256 } from './hash.ts';
import type { Inclusion } from './inclusion.ts';
import { pathThrough, rowsFrom } from './levels.ts';
import { hashesInLevel, hashesInTile, TILE_HASHES, TileError, unpackHashes } from './tile.ts';

/**
 * Loads the `count` hashes of a tile, concatenated; at level 0 the leaf hashes from `index` · 256 on. Its errors and
 * rejections are passed on.
 */
export type LoadTile = (level: number, index: number, count: number) => Uint8Array | Promise<Uint8Array>;

/** An inclusion proof from tiles, with the root that the tiles lead to. */
export interface ProvenInclusion extends Inclusion {
  /** The root that the tiles lead to. Compare it with the published root. */
  readonly root: Uint8Array;
}

/**
 * The proof of one leaf in a tree of `size` leaves. Loads one tile per level, all at once. Rejects with RangeError if
 * there is no such leaf, and with TileError if a tile has another length or does not match its hash in the tile above.
 */
export const proveInclusionFromTiles = async (
  index: number,
  size: number,
  loadTile: LoadTile,
  sha256: Sha256 = portableSha256,
): Promise<ProvenInclusion> => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size}`);
  const places = listPlaces(index, size);
  const tiles = await Promise.all(
    places.map(async (place) => ({ ...place, hashes: await loadTile(place.level, place.tile, place.count) })),
  );
  const steps = tiles.map((tile) => stepThrough(tile, sha256));
  steps.forEach(({ root, tile }, i) => {
    const above = steps[i + 1];
    if (above !== undefined && !isSameHash(root, above.entry))
      throw new TileError(`${tile} does not hash to what ${above.tile} says`);
  });
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) throw new TileError('there are no tiles');
  return {
    leafHash: first.entry,
    index,
    size,
    path: steps.flatMap(({ path }) => path),
    root: last.root,
  };
};

/** The place in one level on the path from a leaf to the root. */
interface Place {
  readonly level: number;
  readonly tile: number;
  /** Number of hashes in the tile. */
  readonly count: number;
  /** Position of the hash within the tile. */
  readonly position: number;
}

const listPlaces = (index: number, size: number): readonly Place[] => {
  const places: Place[] = [];
  let at = index;
  for (let level = 0; ; level++) {
    const tile = Math.floor(at / TILE_HASHES);
    places.push({ level, tile, count: hashesInTile(size, level, tile), position: at % TILE_HASHES });
    if (hashesInLevel(size, level) <= TILE_HASHES) return places;
    at = tile;
  }
};

const stepThrough = (
  { level, tile, count, position, hashes }: Place & { readonly hashes: Uint8Array },
  sha256: Sha256,
) => {
  const name = `tile ${tile} of level ${level}`;
  if (hashes.length !== count * HASH_BYTES)
    throw new TileError(`${name} must have ${count} hashes, not ${hashes.length} bytes`);
  const rows = rowsFrom(unpackHashes(hashes), sha256);
  const [entry, root] = [rows[0]?.[position], rows.at(-1)?.[0]];
  if (entry === undefined || root === undefined) throw new TileError(`${name} has no hash ${position}`);
  return { tile: name, entry, root, path: pathThrough(rows, position) };
};
