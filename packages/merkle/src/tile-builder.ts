/** Cuts a tree into tiles from leaves that are pushed one after another, with one tile per level in memory. */
import { assertHash, copyOf, emptyRoot, portableSha256, type Sha256 } from './hash.ts';
import { rowsFrom } from './levels.ts';
import { packHashes, TILE_HASHES, type Tile } from './tile.ts';

/** One level: the tile that is being filled, and the number of full tiles before it. */
interface Level {
  row: Uint8Array[];
  fullTiles: number;
}

/** Cuts a tree into tiles from leaves that are pushed one after another. */
export class TileBuilder {
  readonly #emit: (tile: Tile) => void;
  readonly #sha256: Sha256;
  readonly #levels: Level[] = [];
  #finished = false;

  /**
   * `emit` is called with each tile above the leaves as soon as it is complete, from left to right within a level.
   * Tiles of level 0 are not emitted, because the leaves are already stored.
   */
  constructor(emit: (tile: Tile) => void, sha256: Sha256 = portableSha256) {
    this.#emit = emit;
    this.#sha256 = sha256;
  }

  /** Appends a leaf by its hash. Throws RangeError if that is not 32 bytes, and Error after `finish`. */
  push(leafHash: Uint8Array): void {
    assertHash(leafHash);
    if (this.#finished) throw new Error('the tree is finished');
    this.#append(0, copyOf(leafHash));
  }

  /** Emits the tiles at the right edge. A level with only one hash is the root and has no tile. */
  finish(): { readonly size: number; readonly root: Uint8Array } {
    this.#finished = true;
    const size = hashesIn(this.#levels[0]);
    // The list grows during the loop: each closed tile adds a hash to the level above.
    for (const [number, level] of this.#levels.entries()) {
      const [root] = level.row;
      if (root !== undefined && hashesIn(level) === 1) return { size, root };
      if (root !== undefined) this.#close(number, level);
    }
    return { size, root: emptyRoot(this.#sha256) };
  }

  #append(number: number, hash: Uint8Array): void {
    this.#levels[number] ??= { row: [], fullTiles: 0 };
    const level = this.#levels[number];
    level.row.push(hash);
    if (level.row.length === TILE_HASHES) this.#close(number, level);
  }

  #close(number: number, level: Level): void {
    if (number > 0) this.#emit({ level: number, index: level.fullTiles, hashes: packHashes(level.row) });
    const root = rowsFrom(level.row, this.#sha256).at(-1)?.[0];
    level.row = [];
    level.fullTiles++;
    if (root !== undefined) this.#append(number + 1, root);
  }
}

const hashesIn = (level: Level | undefined): number =>
  level === undefined ? 0 : level.fullTiles * TILE_HASHES + level.row.length;
