/**
 * Signing keys of the service and of its sandbox: one JWK set (RFC 7517) per purpose, the active key first. Retired keys stay in the
 * set without their private part, because what they signed is checked for ever; a kid is never used again.
 */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { decodeBase64url, encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import type { KeyTime } from '@svc/transparency';
import type { Signer } from '../ports/platform.ts';

export type KeyPurpose = 'receipt' | 'status' | 'key';

export interface PublishedKey {
  /** DID URL: `<did>#<purpose>-<n>`. */
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly publicKeyMultibase: string;
  /** The key file has its private part. */
  readonly canSign: boolean;
  /** When it is in force; without bounds where only the key file is known. */
  readonly time: KeyTime;
}

export interface KeySet {
  readonly signer: Signer;
  /** Active and retired, in the order of the file; then those that only the database knows. */
  readonly published: readonly PublishedKey[];
}

interface OkpJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d?: string;
  readonly kid: string;
}

/** Of a key of which nothing else is known. */
export const ALWAYS: KeyTime = { fromMs: null, untilMs: null, isCompromised: false };

export class KeySetError extends Error {
  override readonly name = 'KeySetError';
}

/** Reads a JWK set; throws `KeySetError` that names the fault and never shows key material. */
export const parseKeySet = (json: unknown, purpose: KeyPurpose, serviceDid: string): KeySet => {
  const jwks = jwksOf(json);
  const seen = new Set<string>();
  const published = jwks.map((jwk, i) => {
    const kid = `${serviceDid}#${fragmentOf(jwk, purpose, i)}`;
    if (seen.has(kid))
      throw new KeySetError(`keys[${i}]: kid ${kid} stands twice; a kid is never used again`);
    seen.add(kid);
    const publicKey = decodeBase64url(jwk.x);
    if (publicKey === null || !nativeCrypto.isStrictKey(publicKey))
      throw new KeySetError(`keys[${i}]: x is not a strict Ed25519 public key`);
    const publicKeyMultibase = encodeMultikey(publicKey);
    return { kid, publicKey, publicKeyMultibase, canSign: jwk.d !== undefined, time: ALWAYS };
  });
  const [activeJwk] = jwks;
  const [active] = published;
  if (activeJwk === undefined || active === undefined) throw new KeySetError('the set holds no key');
  return { signer: buildSigner(activeJwk, active), published };
};

const jwksOf = (json: unknown): OkpJwk[] => {
  const keys = typeof json === 'object' && json !== null && 'keys' in json ? json.keys : undefined;
  if (!Array.isArray(keys)) throw new KeySetError('not a JWK set: {"keys": […]} expected');
  return keys.map((key: unknown, i) => {
    if (isOkpJwk(key)) return key;
    throw new KeySetError(`keys[${i}]: an OKP Ed25519 JWK with x and kid expected`);
  });
};

const isOkpJwk = (key: unknown): key is OkpJwk => {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, crv, x, d, kid } = key as Record<string, unknown>;
  const privatePart = d === undefined || typeof d === 'string';
  return (
    kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof kid === 'string' && privatePart
  );
};

const fragmentOf = (jwk: OkpJwk, purpose: KeyPurpose, i: number): string => {
  if (new RegExp(`^${purpose}-[1-9][0-9]{0,8}$`).test(jwk.kid)) return jwk.kid;
  throw new KeySetError(`keys[${i}]: kid must be ${purpose}-<n>`);
};

/** A signer over the active key, proven once by signing and verifying: a mismatched pair never starts. */
const buildSigner = (jwk: OkpJwk, { kid, publicKey }: PublishedKey): Signer => {
  if (jwk.d === undefined) throw new KeySetError('keys[0] is the active key and needs its private part d');
  const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
  const signer = { kid, sign: (bytes: Uint8Array): Uint8Array => sign(null, bytes, privateKey) };
  const x = Buffer.from(publicKey).toString('base64url');
  const message = Buffer.from('self-test');
  const matches = verify(
    null,
    message,
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    signer.sign(message),
  );
  if (!matches) throw new KeySetError('keys[0]: d and x are not one pair');
  return signer;
};
