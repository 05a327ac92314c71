/** RFC 6962 Merkle trees over bytes. Signed checkpoints over them are in `@svc/transparency`. */
export { CompactRange } from './compact-range.ts';
export {
  emptyRoot,
  formatHash,
  HASH_BYTES,
  hashLeaf,
  parseHash,
  portableSha256,
  type Sha256,
} from './hash.ts';
export { type Inclusion, rootOfInclusion, verifyInclusion } from './inclusion.ts';
export { TILE_HASHES, type Tile, TileError } from './tile.ts';
export { TileBuilder } from './tile-builder.ts';
export { type LoadTile, type ProvenInclusion, proveInclusionFromTiles } from './tile-proof.ts';
export { MerkleTree, proveInclusion } from './tree.ts';
