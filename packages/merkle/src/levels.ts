/**
 * A row of hashes, and the rows above it up to the root (RFC 6962 §2.1). If a row has an odd number of hashes, the last
 * one moves up unchanged: the result is the same tree as splitting at the largest power of two.
 */
import { hashNode, type Sha256 } from './hash.ts';

export type Row = readonly Uint8Array[];

const rowAbove = (row: Row, sha256: Sha256): Row => {
  const above: Uint8Array[] = [];
  for (let i = 0; i < row.length; i += 2) {
    const [left, right] = [row[i], row[i + 1]];
    if (left !== undefined) above.push(right === undefined ? left : hashNode(left, right, sha256));
  }
  return above;
};

/** Every row from this one up to the root's. The row must have at least one hash. */
export const rowsFrom = (row: Row, sha256: Sha256): readonly Row[] => {
  const rows = [row];
  for (let top = row; top.length > 1; rows.push(top)) top = rowAbove(top, sha256);
  return rows;
};

/**
 * The siblings on the path from the hash at `index` to the root. A hash that moves up unchanged has no sibling in its
 * row.
 */
export const pathThrough = (rows: readonly Row[], index: number): Uint8Array[] => {
  const path: Uint8Array[] = [];
  let at = index;
  for (const row of rows) {
    const sibling = row[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push(sibling);
    at = Math.floor(at / 2);
  }
  return path;
};
