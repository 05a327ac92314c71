/**
 * The bit of a status list that the n-th Grant gets: a keyed permutation. Indexes never collide, and they do not reveal
 * how many Grants a Principal issues or in which order (protocol §9). It is a balanced Feistel network (Luby–Rackoff)
 * over the next even number of bits, applied repeatedly until the value falls inside the list.
 */
import { createHmac } from 'node:crypto';

const ROUNDS = 8;

/** A bijection of 0 … `sizeBits`−1. `sizeBits` is a power of two of at least 4. */
export const permuteIndex = (key: Uint8Array, sizeBits: number, ordinal: number): number => {
  const bits = Math.log2(sizeBits);
  if (!Number.isInteger(bits) || bits < 2)
    throw new RangeError('sizeBits must be a power of two of at least 4');
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal >= sizeBits)
    throw new RangeError('ordinal out of range');
  const halfBits = Math.ceil(bits / 2);
  let value = ordinal;
  do value = encipher(key, halfBits, value);
  while (value >= sizeBits);
  return value;
};

const encipher = (key: Uint8Array, halfBits: number, value: number): number => {
  const mask = 2 ** halfBits - 1;
  let left = Math.floor(value / 2 ** halfBits);
  let right = value & mask;
  for (let round = 0; round < ROUNDS; round++) {
    const next = left ^ (roundFunction(key, round, right) & mask);
    left = right;
    right = next;
  }
  return left * 2 ** halfBits + right;
};

const roundFunction = (key: Uint8Array, round: number, half: number): number =>
  createHmac('sha256', key)
    .update(Uint8Array.of(round, half >>> 16, half >>> 8, half))
    .digest()
    .readUInt32BE(0);
