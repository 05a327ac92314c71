/**
 * Ed25519 arithmetic for tests: honest and dishonest keys and signatures, built from scalars, and the bare verification
 * equation without any admission rule.
 */
import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';

export const P = Point.CURVE().p;
export const L = Point.CURVE().n;

export const toBigInt = (bytes: Uint8Array): bigint =>
  BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
export const to32Bytes = (n: bigint): Uint8Array => hexToBytes(n.toString(16).padStart(64, '0')).reverse();

/** n·point for any n ≥ 0, also for points outside the prime-order subgroup. */
export const times = (n: bigint, point: Point): Point => {
  let sum = Point.ZERO;
  for (const bit of n.toString(2)) {
    sum = sum.double();
    if (bit === '1') sum = sum.add(point);
  }
  return sum;
};

/** A generator of the eight points of small order: some curve point times L. */
const findTorsionGenerator = (): Point => {
  for (let y = 2n; ; y++) {
    try {
      const torsion = times(L, Point.fromBytes(to32Bytes(y)));
      if (!times(4n, torsion).is0()) return torsion;
    } catch {
      // No curve point has this y.
    }
  }
};

/** T₀…T₇, T₀ the identity. */
const generator = findTorsionGenerator();
export const torsionPoints: readonly Point[] = Array.from({ length: 8 }, (_, i) =>
  times(BigInt(i), generator),
);

const withSign = (y: bigint, sign: bigint): Uint8Array => to32Bytes(y | (sign << 255n));

/** Every 32-byte text that a lenient decoder reads as a point of small order, canonical or not. */
export const smallOrderEncodings = (): Uint8Array[] => {
  const ys = new Set(torsionPoints.map((point) => point.toAffine().y));
  return [...ys]
    .flatMap((y) => (y + P < 1n << 255n ? [y, y + P] : [y]))
    .flatMap((y) => [withSign(y, 0n), withSign(y, 1n)]);
};

export const challenge = (r: Uint8Array, publicKey: Uint8Array, message: Uint8Array): bigint =>
  toBigInt(sha512(concatBytes(r, publicKey, message))) % L;

/** [S]B − [k]A = R on the encodings, without further checks; A is decoded leniently. */
export const satisfiesEquation = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean => {
  const r = signature.slice(0, 32);
  const k = challenge(r, publicKey, message);
  const expected = times(toBigInt(signature.slice(32)), Point.BASE).subtract(
    times(k, Point.fromBytes(publicKey, true)),
  );
  return bytesToHex(expected.toBytes()) === bytesToHex(r);
};

/** A key and a signature made with it, each with a chosen torsion component. Honest where both components are 0. */
export interface Forge {
  readonly a: bigint;
  readonly r: bigint;
  readonly keyTorsion: number;
  readonly nonceTorsion: number;
}

export interface Signed {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

const torsion = (i: number): Point => torsionPoints[i] ?? Point.ZERO;

export const forge = ({ a, r, keyTorsion, nonceTorsion }: Forge, message: Uint8Array): Signed => {
  const publicKey = times(a, Point.BASE).add(torsion(keyTorsion)).toBytes();
  const nonce = times(r, Point.BASE).add(torsion(nonceTorsion)).toBytes();
  const s = (r + challenge(nonce, publicKey, message) * a) % L;
  return { publicKey, message, signature: concatBytes(nonce, to32Bytes(s)) };
};

/**
 * The same for the first of the messages 0, 1, 2, … whose signature meets the bare equation (`satisfied`), or does not.
 */
export const forgeUntil = (parts: Forge, satisfied: boolean): Signed => {
  for (let n = 0n; n < 1_000n; n++) {
    const signed = forge(parts, to32Bytes(n));
    if (satisfiesEquation(signed.publicKey, signed.message, signed.signature) === satisfied) return signed;
  }
  throw new Error('no such message');
};

/** The signature with n·L added to S, which is the same number mod L. Throws if it does not fit 32 bytes. */
export const addOrder = (signature: Uint8Array, n: bigint): Uint8Array =>
  concatBytes(signature.slice(0, 32), to32Bytes(toBigInt(signature.slice(32)) + n * L));
