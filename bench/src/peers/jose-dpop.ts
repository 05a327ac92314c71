/**
 * A JWT access token bound to the Agent's key, and a DPoP proof (RFC 9449): two Ed25519 verifications by WebCrypto
 * under imported keys.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

const HTU = 'https://shop.example/checkout';
const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

export async function joseDpopPeer(): Promise<Peer> {
  const issuer = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  const keys = new Map<string, { readonly key: CryptoKey | Uint8Array; readonly thumbprint: string }>();
  const requests: { readonly token: string; readonly proof: string }[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const agent = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
    const jwk = await exportJWK(agent.publicKey);
    const thumbprint = await calculateJwkThumbprint(jwk);
    keys.set(jwk.x ?? '', { key: await importJWK(jwk, 'EdDSA'), thumbprint });
    const token = await new SignJWT({
      action: 'commerce:purchase',
      max_amount: 50_000,
      cnf: { jkt: thumbprint },
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt' })
      .setIssuer('https://principal.example')
      .setAudience('https://shop.example')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(issuer.privateKey);
    const jti = randomBytes(16).toString('base64url');
    const proof = await new SignJWT({ htm: 'POST', htu: HTU, ath: hashOf(token), jti })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(agent.privateKey);
    requests.push({ token, proof });
  }
  const known = (jwk: JWK | undefined) => {
    const found = keys.get(jwk?.x ?? '');
    demand(found !== undefined, 'jose: an unknown key');
    return found;
  };
  const access = { issuer: 'https://principal.example', audience: 'https://shop.example', typ: 'at+jwt' };
  return {
    name: 'jose, access token + DPoP',
    signatures: 2,
    without: 'the action, revocation, replays, Receipt',
    run: async (i) => {
      const { token, proof } = turnOf(requests, i);
      const { payload } = await jwtVerify(token, issuer.publicKey, access);
      const dpop = await jwtVerify(proof, ({ jwk }) => known(jwk).key as CryptoKey, {
        typ: 'dpop+jwt',
        maxTokenAge: '5 minutes',
      });
      const { jkt } = payload.cnf as { readonly jkt: string };
      const { htm, htu, ath } = dpop.payload as Record<string, unknown>;
      demand(known(dpop.protectedHeader.jwk).thumbprint === jkt, 'jose: another key');
      demand(htm === 'POST' && htu === HTU && ath === hashOf(token), 'jose: another request');
      demand((payload.max_amount as number) >= 42_700, 'jose: not allowed');
    },
  };
}
