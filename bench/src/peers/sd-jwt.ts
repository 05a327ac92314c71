/**
 * An SD-JWT of the issuer with a key-binding JWT of the holder: two Ed25519 verifications by node:crypto under imported
 * keys.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { SDJwtInstance } from '@sd-jwt/core';
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

const signBy = (key: KeyObject) => (data: string) => sign(null, Buffer.from(data), key).toString('base64url');
const verifyBy = (key: KeyObject, data: string, signature: string) =>
  verify(null, Buffer.from(data), key, Buffer.from(signature, 'base64url'));

interface Confirmed {
  readonly cnf?: { readonly jwk?: JsonWebKey };
}

export async function sdJwtPeer(): Promise<Peer> {
  const issuer = generateKeyPairSync('ed25519');
  const holderKeys = new Map<string, KeyObject>();
  const hasher = (data: string | ArrayBuffer) =>
    createHash('sha256')
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest();
  const common = {
    hasher,
    hashAlg: 'sha-256' as const,
    signAlg: 'EdDSA',
    kbSignAlg: 'EdDSA',
    saltGenerator: (length: number) => randomBytes(length).toString('hex').slice(0, length),
    verifier: (data: string, signature: string) => verifyBy(issuer.publicKey, data, signature),
    kbVerifier: (data: string, signature: string, payload: unknown) => {
      const { cnf } = payload as Confirmed;
      const key = holderKeys.get(cnf?.jwk?.x ?? '');
      return key !== undefined && verifyBy(key, data, signature);
    },
  };
  const tokens: { readonly token: string; readonly nonce: string }[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const holder = generateKeyPairSync('ed25519');
    const jwk = holder.publicKey.export({ format: 'jwk' });
    holderKeys.set(jwk.x ?? '', createPublicKey({ key: jwk, format: 'jwk' }));
    const instance = new SDJwtInstance({
      ...common,
      signer: signBy(issuer.privateKey),
      kbSigner: signBy(holder.privateKey),
    });
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: 'https://principal.example',
      iat: nowSeconds,
      exp: nowSeconds + 3_600,
      action: 'commerce:purchase',
      max_amount: 50_000,
      currency: 'USD',
      cnf: { jwk },
    };
    const issued = await instance.issue(claims as never);
    const nonce = randomBytes(16).toString('base64url');
    const payload = { iat: nowSeconds, aud: 'https://shop.example', nonce };
    tokens.push({ nonce, token: await instance.present(issued, undefined, { kb: { payload } }) });
  }
  const verifier = new SDJwtInstance(common);
  return {
    name: '@sd-jwt/core with key binding',
    signatures: 2,
    without: 'the action, revocation, replays, Receipt',
    run: async (i) => {
      const { token, nonce } = turnOf(tokens, i);
      const { payload, kb } = await verifier.verify(token, { keyBindingNonce: nonce });
      const { max_amount: most } = payload as { readonly max_amount: number };
      demand(most >= 42_700 && kb?.payload.aud === 'https://shop.example', '@sd-jwt/core: not allowed');
    },
  };
}
