/**
 * `CryptoPort` on node:crypto, for servers. The verdicts are those of `portableCrypto` (protocol §1): keys and
 * signatures pass the same admission code, and OpenSSL then checks the same cofactorless equation.
 */
import crypto, { type KeyObject } from 'node:crypto';
import { encodeBase64url } from './base64url.ts';
import { BoundedMemo } from './bounded-memo.ts';
import type { CryptoPort } from './crypto.ts';
import { isStrictPublicKey, isStrictSignatureForm, KEY_MEMO_ENTRIES, publicKeyText } from './ed25519.ts';

/** Imported keys, all admitted. Importing one costs as much as a verification. */
const keys = new BoundedMemo<KeyObject>(KEY_MEMO_ENTRIES);

const findStrictKey = (publicKey: Uint8Array): KeyObject | null => {
  if (publicKey.length !== 32) return null;
  const text = publicKeyText(publicKey);
  const known = keys.find(text);
  if (known !== undefined) return known;
  if (!isStrictPublicKey(publicKey)) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(publicKey) };
  const key = crypto.createPublicKey({ key: jwk, format: 'jwk' });
  keys.insert(text, key);
  return key;
};

/** `crypto.hash` is twice as fast on short input, and missing from some runtimes that offer node:crypto. */
const sha256Hex: CryptoPort['sha256Hex'] =
  typeof crypto.hash === 'function'
    ? (data) => crypto.hash('sha256', data, 'hex')
    : (data) => crypto.createHash('sha256').update(data).digest('hex');

const toBytes = (message: Uint8Array | string): Uint8Array =>
  typeof message === 'string' ? Buffer.from(message, 'utf8') : message;

/**
 * `CryptoPort` by Node's own cryptography: an order of magnitude faster than the portable one, and of the same answers.
 */
export const nativeCrypto: CryptoPort = {
  sha256Hex,
  isStrictKey: isStrictPublicKey,
  verify: (publicKey, message, signature) => {
    if (!isStrictSignatureForm(signature)) return false;
    const key = findStrictKey(publicKey);
    if (key === null) return false;
    return crypto.verify(null, toBytes(message), key, signature);
  },
};

/** The cofactorless equation [S]B − [k]A = R. The caller has admitted key and signature. */
export type Ed25519Equation = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/** `nativeCrypto` with the equation checked by another library, behind the same admission. */
export const nativeCryptoBy = (holds: Ed25519Equation): CryptoPort => ({
  ...nativeCrypto,
  verify: (publicKey, message, signature) =>
    isStrictSignatureForm(signature) &&
    isStrictPublicKey(publicKey) &&
    holds(publicKey, toBytes(message), signature),
});

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The Ed25519 private key of a seed of 32 bytes (RFC 8410). */
export const privateKeyOfSeed = (seed: Uint8Array): KeyObject =>
  crypto.createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
