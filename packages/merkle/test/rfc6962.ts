/**
 * The tree as RFC 6962 §2.1 defines it, written as its recursion. The package is compared with it and shares no code
 * with it.
 */
import { createHash } from 'node:crypto';

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());

export const leafOf = (data: string): Uint8Array => sha256(Uint8Array.of(0), Buffer.from(data));
const nodeOf = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(Uint8Array.of(1), left, right);

/** The largest power of two smaller than n. */
const splitOf = (n: number): number => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};

/** MTH, over leaf hashes. */
export const rootOf = (leaves: readonly Uint8Array[]): Uint8Array => {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const k = splitOf(leaves.length);
  return nodeOf(rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
};

/** PATH, over leaf hashes. */
export const pathOf = (m: number, leaves: readonly Uint8Array[]): Uint8Array[] => {
  const n = leaves.length;
  if (n === 1) return [];
  const k = splitOf(n);
  return m < k
    ? [...pathOf(m, leaves.slice(0, k)), rootOf(leaves.slice(k))]
    : [...pathOf(m - k, leaves.slice(k)), rootOf(leaves.slice(0, k))];
};

/** On which side the sibling is at each step, from the leaf to the root; the path itself does not contain this. */
export const sidesOf = (m: number, n: number): string => {
  if (n === 1) return '';
  const k = splitOf(n);
  return m < k ? `${sidesOf(m, k)}R` : `${sidesOf(m - k, n - k)}L`;
};

/** Distinct leaf hashes: those of the leaves' numbers. */
export const numberedLeaves = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => leafOf(`leaf ${i}`));

/** The bytes with one bit inverted. */
export const flip = (bytes: Uint8Array, bit: number): Uint8Array => {
  const flipped = Uint8Array.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
};
