/** A closed tree as it is stored: its leaves, and the tiles above them. */
import { type LoadTile, proveInclusionFromTiles, type Sha256, type Tile, TileBuilder } from '../src/index.ts';
import { nativeSha256 } from '../src/native.ts';

export const storedTree = (leaves: readonly Uint8Array[], sha256: Sha256 = nativeSha256) => {
  const tiles: Tile[] = [];
  const builder = new TileBuilder((tile) => tiles.push(tile), sha256);
  for (const leaf of leaves) builder.push(leaf);
  const { size, root } = builder.finish();
  const loaded: string[] = [];
  const load = (level: number, index: number, count: number): Uint8Array => {
    loaded.push(`${level}/${index}`);
    if (level === 0) return new Uint8Array(Buffer.concat(leaves.slice(index * 256, index * 256 + count)));
    const found = tiles.find((tile) => tile.level === level && tile.index === index);
    if (found === undefined) throw new Error(`tile ${level}/${index} was not stored`);
    return found.hashes;
  };
  const prove = (index: number, from: LoadTile = load) => proveInclusionFromTiles(index, size, from, sha256);
  return { tiles, size, root, loaded, load, prove };
};
