/** Keys and records that the tests share. The keys are for tests only. */
import { createHash, createPublicKey } from 'node:crypto';
import { privateKeyOfSeed } from '@svc/codec/native';
import type { Reply } from '@svc/testkit/sdk/scripted-server';
import { agentFromJwk, type Ed25519PrivateJwk } from '../src/agent.ts';
import { signerFromJwk } from '../src/index.ts';

/** An Ed25519 key derived from its name. */
export function testJwk(name: string): Ed25519PrivateJwk {
  const seed = createHash('sha256').update(name).digest();
  const jwk = createPublicKey(privateKeyOfSeed(seed)).export({
    format: 'jwk',
  });
  return { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '', d: seed.toString('base64url') };
}

export const ISSUER = 'did:web:acme.example';
export const SHOP = 'did:web:shop.example';
export const KID = `${ISSUER}#key-1`;
export const NOW_MS = Date.parse('2026-11-20T08:00:00.750Z');
/** One second before it is the whole second of `NOW_MS`, at which Grants begin. */
export const ALLOCATED_AT = '2026-11-20T08:00:01.000Z';
/** Its id contains `ALLOCATED_AT`. */
export const GRANT_ID = 'urn:svc:grant:01M7VZGCZ8ABCDEFGHJKMNPQRS';
export const principalJwk = testJwk('principal');
export const agentJwk = testJwk('agent');
export const agent = agentFromJwk(agentJwk);
export const signer = signerFromJwk(principalJwk, KID);

const listUrl = 'https://status.svc.example/acme.example/1';
export const allocation = {
  id: GRANT_ID,
  issuer: ISSUER,
  agent: agent.did as string,
  credentialStatus: {
    id: `${listUrl}#94567`,
    type: 'BitstringStatusListEntry',
    statusPurpose: 'revocation',
    statusListIndex: '94567',
    statusListCredential: listUrl,
  },
  allocated_at: ALLOCATED_AT,
};

export const created = (json: unknown): Reply => ({ status: 201, json });
