/**
 * The bits of a status list (Bitstring Status List 1.0 §3; protocol §9). Entry 0 is the left-most bit: the most
 * significant bit of the first byte. A bit of 1 means revoked.
 */
export type StatusBitstring = Uint8Array;

/**
 * The smallest list that the specification allows, in entries. In a smaller list an index would identify its holder too
 * closely.
 */
export const MIN_ENTRIES = 131_072;

/**
 * A list of `entries` zero bits.
 * @throws RangeError if `entries` is below {@link MIN_ENTRIES} or not a multiple of 8.
 */
export function createBitstring(entries: number = MIN_ENTRIES): StatusBitstring {
  if (!Number.isSafeInteger(entries) || entries < MIN_ENTRIES || entries % 8 !== 0) {
    throw new RangeError(`a status list has at least ${MIN_ENTRIES} entries, a multiple of 8`);
  }
  return new Uint8Array(entries / 8);
}

/**
 * Whether the entry at `index` is set.
 * @throws RangeError if there is no such entry: an absent entry must never read as "not revoked".
 */
export function getBit(bits: StatusBitstring, index: number): boolean {
  return (byteAt(bits, index) & maskOf(index)) !== 0;
}

/**
 * Writes the entry at `index` in place.
 * @throws RangeError if there is no such entry.
 */
export function setBit(bits: StatusBitstring, index: number, value = true): void {
  const byte = byteAt(bits, index);
  bits[index >>> 3] = value ? byte | maskOf(index) : byte & ~maskOf(index);
}

const maskOf = (index: number): number => 0x80 >>> (index & 7);

function byteAt(bits: StatusBitstring, index: number): number {
  const byte = Number.isSafeInteger(index) && index >= 0 ? bits[Math.floor(index / 8)] : undefined;
  if (byte === undefined) throw new RangeError(`the status list has no entry ${index}`);
  return byte;
}
