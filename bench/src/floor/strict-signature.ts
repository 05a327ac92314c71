/** The byte checks of a strict Ed25519 signature (protocol §1), at the least cost; OpenSSL then checks the equation. */
import { type KeyObject, verify } from 'node:crypto';

/** The group order, little-endian. */
const ORDER = Buffer.from('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010', 'hex');

/** y of the points whose order divides 8; little-endian. */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map((hex) => Buffer.from(hex, 'hex'));

/** The key has already passed the checks of a public key. */
export const verifyStrict = (key: KeyObject, message: string, signature: Buffer): boolean =>
  signature.length === 64 &&
  isReduced(signature) &&
  isCanonicalLargeOrder(signature) &&
  verify(null, Buffer.from(message), key, signature);

function isReduced(signature: Buffer): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = (signature[32 + i] ?? 0) - (ORDER[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function isCanonicalLargeOrder(r: Buffer): boolean {
  const top = (r[31] ?? 0) & 0x7f;
  if (top === 0x7f && r.subarray(1, 31).every((byte) => byte === 0xff) && (r[0] ?? 0) >= 0xed) return false;
  return !SMALL_ORDER_Y.some((y) => top === y[31] && y.compare(r, 0, 31, 0, 31) === 0);
}
