/** An Agent that the service itself plays: an Ed25519 key made from a seed, and its did:key. */
import { createPublicKey, sign } from 'node:crypto';
import { privateKeyOfSeed } from '@svc/codec/native';
import { type DidKey, decodeBase64url, encodeMultikey } from '@svc/protocol';
import { internal } from '../errors.ts';
import type { Signer } from '../ports/platform.ts';

export interface AgentKey {
  readonly did: DidKey;
  readonly signer: Signer;
}

/** The Agent made from a seed of 32 secret bytes. */
export const agentFromSeed = (seed: Uint8Array): AgentKey => {
  const privateKey = privateKeyOfSeed(seed);
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const publicKey = decodeBase64url(x);
  if (publicKey === null) throw internal('an Ed25519 key without x');
  const multikey = encodeMultikey(publicKey);
  const did = `did:key:${multikey}` as DidKey;
  return { did, signer: { kid: `${did}#${multikey}`, sign: (bytes) => sign(null, bytes, privateKey) } };
};
