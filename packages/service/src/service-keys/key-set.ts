/**
 * Signing keys of the service and of its sandbox: one JWK set (RFC 7517) for each purpose, the active key first. A
 * key's private part is in the set (`d`), or at the URI in `private_key`. Retired keys stay in the set without a
 * private part, because their signatures are checked for ever. A kid is never used again.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { decodeBase64url, encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import type { KeyTime } from '@svc/transparency';
import { internal } from '../errors.ts';
import type { Signer } from '../ports/platform.ts';

export type KeyPurpose = 'receipt' | 'status' | 'key';

export interface PublishedKey {
  /** DID URL: `<did>#<purpose>-<n>`. */
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly publicKeyMultibase: string;
  /** The key file has the private part, or its URI. */
  readonly canSign: boolean;
  /** When the key is in force; without bounds where only the key file is known. */
  readonly time: KeyTime;
}

export interface KeySet {
  readonly signer: ServiceSigner;
  /** Active and retired keys, in the order of the file; then those that only the database has. */
  readonly published: readonly PublishedKey[];
}

export interface ServiceSigner extends Signer {
  /** Why the signer cannot sign at present, from memory; null: it can. Absent: it always can. */
  readonly findFault?: () => string | null;
  /** Longest message that it signs. Absent: no limit. */
  readonly maxBytes?: number;
}

/**
 * Opens a private key outside the set. Rejects with `KeySetError` unless its signatures verify under this public key.
 */
export type OpenPrivateKey = (uri: string, key: PublishedKey) => Promise<ServiceSigner>;

/** Makes a function that signs with this key in this process. */
export type SignWith = (privateKey: KeyObject) => (bytes: Uint8Array) => Uint8Array;

export const signByNode: SignWith = (privateKey) => (bytes) => sign(null, bytes, privateKey);

/**
 * The key set of a process that signs nothing with these keys. It reads the public keys from the database
 * (key-ring.ts).
 */
export const keysOfOthers = (purpose: KeyPurpose): KeySet => ({
  signer: {
    kid: '',
    sign: () => {
      throw internal(`this process has no ${purpose} key`);
    },
  },
  published: [],
});

interface OkpJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d?: string;
  readonly private_key?: string;
  readonly kid: string;
}

/** The time of a key without known bounds. */
export const ALWAYS: KeyTime = { fromMs: null, untilMs: null, isCompromised: false };

export class KeySetError extends Error {
  override readonly name = 'KeySetError';
}

/**
 * A hardware token refused the PIN. A token counts wrong PINs and locks itself, so it is not tried again until the PIN
 * is corrected.
 */
export class RefusedPinError extends KeySetError {}

/** Reads a JWK set with its private parts. Throws `KeySetError`, which names the fault and never shows key material. */
export const parseKeySet = (
  json: unknown,
  purpose: KeyPurpose,
  serviceDid: string,
  signWith = signByNode,
): KeySet => {
  const { jwk, active, published } = readKeys(json, purpose, serviceDid);
  if (jwk.d === undefined)
    throw new KeySetError('keys[0] is the active key and needs its private part d, or private_key');
  const { kty, crv, x, d } = jwk;
  const privateKey = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' });
  return { signer: signerOf(signWith(privateKey), active, 'keys[0]: d and x are not one pair'), published };
};

/** Reads any JWK set. Rejects as `parseKeySet` throws, and with what `open` rejects with. */
export const openKeySet = async (
  json: unknown,
  purpose: KeyPurpose,
  serviceDid: string,
  { open, signWith }: { readonly open: OpenPrivateKey; readonly signWith: SignWith },
): Promise<KeySet> => {
  const { jwk, active, published } = readKeys(json, purpose, serviceDid);
  if (jwk.private_key === undefined) return parseKeySet(json, purpose, serviceDid, signWith);
  return { signer: await open(jwk.private_key, active), published };
};

const readKeys = (json: unknown, purpose: KeyPurpose, serviceDid: string) => {
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
    if (jwk.d !== undefined && jwk.private_key !== undefined)
      throw new KeySetError(`keys[${i}]: d or private_key, not both`);
    const publicKeyMultibase = encodeMultikey(publicKey);
    const canSign = jwk.d !== undefined || jwk.private_key !== undefined;
    return { kid, publicKey, publicKeyMultibase, canSign, time: ALWAYS };
  });
  const [jwk] = jwks;
  const [active] = published;
  if (jwk === undefined || active === undefined) throw new KeySetError('the set holds no key');
  return { jwk, active, published };
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
  const { kty, crv, x, kid, ...rest } = key as Record<string, unknown>;
  const isRight = [rest.d, rest.private_key].every((part) => part === undefined || typeof part === 'string');
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof kid === 'string' && isRight;
};

const fragmentOf = (jwk: OkpJwk, purpose: KeyPurpose, i: number): string => {
  if (new RegExp(`^${purpose}-[1-9][0-9]{0,8}$`).test(jwk.kid)) return jwk.kid;
  throw new KeySetError(`keys[${i}]: kid must be ${purpose}-<n>`);
};

/** Bytes that a signer signs once as a self-test. They are not a JWS, so the signature cannot be misused. */
export const SELF_TEST: Uint8Array = Buffer.from('self-test of a signer');

/** A signer in this process. Signs and verifies once, and throws `KeySetError` where the keys are not a pair. */
export const signerOf = (
  signing: ReturnType<SignWith>,
  { kid, publicKey }: Pick<PublishedKey, 'kid' | 'publicKey'>,
  mismatch: string,
): Signer => {
  if (!nativeCrypto.verify(publicKey, SELF_TEST, signing(SELF_TEST))) throw new KeySetError(mismatch);
  return { kid, sign: signing };
};
