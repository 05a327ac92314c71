/**
 * Strict Ed25519 (RFC 8032) in JavaScript, and the admission rules that every implementation of `CryptoPort` shares
 * (protocol §1). With a key of small order, one constant signature verifies every message; verifiers also differ on
 * torsion and on non-canonical encodings. Keys and signatures of these kinds are refused before the equation is
 * evaluated.
 *
 * Everything here works on public data, so nothing is constant-time.
 */
import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { BoundedMemo } from './bounded-memo.ts';

const L = Point.CURVE().n;
const L_BYTES = hexToBytes('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');

/**
 * The y coordinates of the eight points whose order divides 8, little-endian. There are five, because (x, y) and (−x,
 * y) share y.
 */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(hexToBytes);

/** Number of keys of each verdict that stay in memory. */
const KEY_MEMO_ENTRIES = 10_000;

/**
 * Stores verdicts on public keys, with the value made from each admitted key. Refused keys have their own memo, so they
 * never displace admitted ones.
 */
export class KeyMemo<Admitted> {
  readonly #admitted = new BoundedMemo<Admitted>(KEY_MEMO_ENTRIES);
  readonly #refused = new BoundedMemo<true>(KEY_MEMO_ENTRIES);
  readonly #admit: (publicKey: Uint8Array) => Admitted | null;

  /**
   * `admit` is called with 32 bytes that `isCanonicalLargeOrder` accepts, and returns null for a key that is not
   * strict.
   */
  constructor(admit: (publicKey: Uint8Array) => Admitted | null) {
    this.#admit = admit;
  }

  /** Null for a key that is not strict or has another length. */
  find(publicKey: Uint8Array): Admitted | null {
    if (publicKey.length !== 32) return null;
    const text = textOf(publicKey);
    const known = this.#admitted.find(text);
    if (known !== undefined) return known;
    if (this.#refused.find(text) === true) return null;
    const admitted = isCanonicalLargeOrder(publicKey) ? this.#admit(publicKey) : null;
    if (admitted === null) this.#refused.insert(text, true);
    else this.#admitted.insert(text, admitted);
    return admitted;
  }
}

/** A key's bytes as characters, one for each byte. */
const textOf = (publicKey: Uint8Array): string =>
  // The declared type is an array, but `apply` takes any list of numbers; spreading would copy the bytes one by one.
  String.fromCharCode.apply(null, publicKey as unknown as number[]);

/** True for 32 bytes that are the canonical encoding of a torsion-free point not of small order. */
export const isStrictPublicKey = (publicKey: Uint8Array): boolean => points.find(publicKey) !== null;

/**
 * True for 64 bytes R ‖ S with S < L, and R canonical and not of small order. Whether R lies on the curve is not
 * checked here: an R off the curve cannot satisfy the verification equation.
 */
export const isStrictSignatureForm = (signature: Uint8Array): boolean =>
  signature.length === 64 && isBelow(signature, 32, L_BYTES) && isCanonicalLargeOrder(signature);

/** Strict verification: checks key and signature, then the cofactorless equation [S]B − [k]A = R on encodings. */
export const verifyStrict = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (!isStrictSignatureForm(signature)) return false;
  const key = points.find(publicKey);
  if (key === null) return false;
  const r = signature.subarray(0, 32);
  const s = littleEndian(signature.subarray(32));
  const k = littleEndian(sha512(concatBytes(r, publicKey, message))) % L;
  const expected = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k)).toBytes();
  return expected.every((byte, i) => byte === r[i]);
};

const strictPointOf = (publicKey: Uint8Array): Point | null => {
  try {
    const point = Point.fromBytes(publicKey);
    return point.isSmallOrder() || !point.isTorsionFree() ? null : point;
  } catch {
    return null;
  }
};

const points = new KeyMemo(strictPointOf);

/**
 * Whether the first 32 bytes encode y < p, and y is not of small order. That covers all of canonicity: the other
 * non-canonical form, x = 0 with the sign bit set, has y = ±1, which is of small order.
 */
const isCanonicalLargeOrder = (bytes: Uint8Array): boolean =>
  isFieldElement(bytes) && !SMALL_ORDER_Y.some((y) => isSameY(bytes, y));

/** Whether y < p = 2^255 − 19, ignoring the sign bit. */
const isFieldElement = (bytes: Uint8Array): boolean => {
  if (((bytes[31] ?? 0) & 0x7f) !== 0x7f) return true;
  for (let i = 30; i > 0; i--) if (bytes[i] !== 0xff) return true;
  return (bytes[0] ?? 0) < 0xed;
};

const isSameY = (bytes: Uint8Array, y: Uint8Array): boolean => {
  for (let i = 0; i < 31; i++) if (bytes[i] !== y[i]) return false;
  return ((bytes[31] ?? 0) & 0x7f) === y[31];
};

/** Whether the little-endian number in `bytes` from `start` is below `bound`. */
const isBelow = (bytes: Uint8Array, start: number, bound: Uint8Array): boolean => {
  for (let i = bound.length - 1; i >= 0; i--) {
    const difference = (bytes[start + i] ?? 0) - (bound[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
};

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
