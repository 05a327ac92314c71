/**
 * Keys of a Principal: generated locally, registered as Multikey (interface §PrincipalCreateRequest), used through a
 * signer.
 */
import { encodeMultikey, type Signer } from '@svc/codec';
import { checkValue, isText, rule } from '@svc/sdk-core';
import { type Ed25519PrivateJwk, generateEd25519Jwk, parseEd25519Jwk } from './ed25519.ts';

/** A new key that signs Grants. */
export interface PrincipalKey {
  /** The private key. Keep it secret. */
  privateJwk: Ed25519PrivateJwk;
  /** An entry of `keys` for the registration of the Principal. */
  registration: { id?: string; publicKeyMultibase: string };
  /** The public key as a Multikey, `z6Mk…`. */
  publicKeyMultibase: string;
}

const aKid = rule(
  'the DID URL under which the key is published, did:web:…#key-1',
  (value): value is string => isText(value) && /^did:[^#\s]+#[^#\s]+$/.test(value),
);

/**
 * Makes a new Ed25519 key. `id` is the fragment under which the key will be published; unless given, the service
 * chooses it.
 * @example
 * const { privateJwk, registration } = await generatePrincipalKey(); // registration: an entry of `keys` of POST /principals
 */
export async function generatePrincipalKey(options: { id?: string } = {}): Promise<PrincipalKey> {
  const privateJwk = await generateEd25519Jwk();
  const publicKeyMultibase = encodeMultikey(parseEd25519Jwk(privateJwk).publicKey);
  const named = options.id === undefined ? {} : { id: options.id };
  return { privateJwk, publicKeyMultibase, registration: { ...named, publicKeyMultibase } };
}

/**
 * A signer for the key published as `kid` (`did:web:…#key-1`). For a key in a KMS provide the two members yourself,
 * `{ kid, sign: (bytes) => kms.sign(bytes) }`, where `sign` returns the 64-byte Ed25519 signature over these bytes.
 * @throws SvcError `invalid-argument`
 * @example
 * const { privateJwk, registration } = await generatePrincipalKey();
 * const signer = signerFromJwk(privateJwk, 'did:web:svc.example:org:acme#key-1');
 */
export function signerFromJwk(jwk: Ed25519PrivateJwk, kid: string): Signer {
  checkValue('kid', kid, aKid);
  const key = parseEd25519Jwk(jwk);
  return { kid, sign: (bytes) => key.sign(bytes) };
}
