/** A key pair from its 32-byte seed (RFC 8032 §5.1.5). */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** RFC 8037 §2. */
export interface OkpJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key pair, with the private key also as a JWK, public part included. */
export const keyPairOf = (seed: Uint8Array): { readonly key: KeyObject; readonly jwk: OkpJwk } => {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { key, jwk: key.export({ format: 'jwk' }) as unknown as OkpJwk };
};

export const publicKeyOf = (key: KeyObject): Uint8Array =>
  new Uint8Array(Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url'));
