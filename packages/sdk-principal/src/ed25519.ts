/**
 * Ed25519 private keys as JWK (RFC 8037). WebCrypto signs; the imported private key is not extractable. Where a
 * browser's WebCrypto does not support Ed25519 yet, @noble/ed25519 signs.
 */
import { decodeBase64url, encodeBase64url, portableCrypto } from '@svc/codec';
import { anObjectWith, checkValue } from '@svc/sdk-core/arguments';
import { SvcError } from '@svc/sdk-core/errors';

/** A private key. Keep it secret. Only these members are needed; others are ignored. */
export interface Ed25519PrivateJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Public key: 32 bytes, base64url. */
  x: string;
  /** Private key: 32 bytes, base64url. */
  d: string;
}

export interface Ed25519Key {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

const aJwk = anObjectWith<Ed25519PrivateJwk>('an Ed25519 private key as a JWK object', [], []);

type SignBytes = (bytes: Uint8Array) => Promise<Uint8Array>;

export async function generateEd25519Jwk(): Promise<Ed25519PrivateJwk> {
  try {
    const pair = await subtle().generateKey('Ed25519', true, ['sign', 'verify']);
    if (!('privateKey' in pair)) throw new TypeError('no key pair');
    const { x, d } = await subtle().exportKey('jwk', pair.privateKey);
    if (x !== undefined && d !== undefined) return { kty: 'OKP', crv: 'Ed25519', x, d };
  } catch (error) {
    if (!isNotSupported(error)) throw error;
  }
  const noble = await import('@noble/ed25519');
  const secret = noble.utils.randomSecretKey();
  const publicKey = await noble.getPublicKeyAsync(secret);
  return { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(publicKey), d: encodeBase64url(secret) };
}

/**
 * Parses the key now and imports it at the first signature. That signature is checked with `x`: a JWK whose two halves
 * do not match would otherwise make signatures that cannot be verified.
 * @throws SvcError `invalid-argument`; messages never show the key.
 */
export function parseEd25519Jwk(jwk: Ed25519PrivateJwk): Ed25519Key {
  checkValue('jwk', jwk, aJwk);
  const publicKey = keyBytes(jwk.x, 'x');
  const secret = keyBytes(jwk.d, 'd');
  if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519')
    throw invalid('the JWK must have kty "OKP" and crv "Ed25519"');
  if (!portableCrypto.isStrictKey(publicKey)) throw invalid('the public key x is not a usable Ed25519 key');
  // Holds the imported key, not a promise of it: edge runtimes drop what a request awaits when its client disconnects.
  let imported: SignBytes | null = null;
  return {
    publicKey,
    async sign(bytes) {
      imported ??= await importKey(secret, publicKey);
      return imported(bytes);
    },
  };
}

async function importKey(secret: Uint8Array, publicKey: Uint8Array): Promise<SignBytes> {
  const sign = await importSecret(secret, publicKey);
  const probe = new Uint8Array(32);
  if (!portableCrypto.verify(publicKey, probe, await sign(probe))) {
    throw invalid('the public key x does not belong to the private key d');
  }
  return sign;
}

async function importSecret(secret: Uint8Array, publicKey: Uint8Array): Promise<SignBytes> {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(publicKey), d: encodeBase64url(secret) };
  try {
    const key = await subtle().importKey('jwk', jwk, 'Ed25519', false, ['sign']);
    return async (bytes) => new Uint8Array(await subtle().sign('Ed25519', key, copyOf(bytes)));
  } catch (error) {
    // Some implementations detect here that the two halves do not match.
    if (!isNotSupported(error)) throw invalid('the JWK is not an Ed25519 private key');
  }
  const noble = await import('@noble/ed25519');
  return (bytes) => noble.signAsync(bytes, secret);
}

function keyBytes(value: unknown, member: 'x' | 'd'): Uint8Array {
  const bytes = typeof value === 'string' ? decodeBase64url(value) : null;
  if (bytes?.length !== 32) throw invalid(`the JWK member ${member} must be 32 bytes in base64url`);
  return bytes;
}

/** WebCrypto does not accept a view that may be of a shared buffer. */
const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

const invalid = (message: string): SvcError => new SvcError('invalid-argument', message);

const isNotSupported = (error: unknown): boolean =>
  (Object(error) as { name?: unknown }).name === 'NotSupportedError';

function subtle(): typeof globalThis.crypto.subtle {
  const { crypto } = globalThis as { crypto?: Partial<typeof globalThis.crypto> };
  if (crypto?.subtle === undefined) throw new SvcError('configuration', 'this runtime has no WebCrypto here');
  return crypto.subtle;
}
