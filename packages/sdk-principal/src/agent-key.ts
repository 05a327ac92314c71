/** An Agent is identified by its key: an Ed25519 did:key (interface §Roles), with a signer for it. */
import { type DidKey, formatDidKey, type Signer } from '@svc/codec';
import { anObjectWith } from '@svc/sdk-core/arguments';
import { type Ed25519PrivateJwk, generateEd25519Jwk, parseEd25519Jwk } from './ed25519.ts';

/** To use a key in a KMS, provide `did`, `kid` = `did:key:z6Mk…#z6Mk…`, and a `sign` over exactly the bytes given. */
export interface Agent extends Signer {
  readonly did: DidKey;
}

export const anAgent = anObjectWith<Agent>(
  'an Agent { did, kid, sign }, as agentFromJwk gives it',
  ['did', 'kid'],
  ['sign'],
);

/** A new key of an Agent. */
export interface AgentKey {
  /** The DID to which Principals issue Grants. */
  did: DidKey;
  /** The private key. Keep it secret. */
  privateJwk: Ed25519PrivateJwk;
}

/**
 * Makes a key for a new Agent. Store `privateJwk`; Principals issue Grants to `did`. The Agent need not be registered.
 */
export async function generateAgentKey(): Promise<AgentKey> {
  const privateJwk = await generateEd25519Jwk();
  return { did: agentFromJwk(privateJwk).did, privateJwk };
}

/**
 * The Agent with this key.
 * @throws SvcError `invalid-argument`; messages never show the key.
 * @example
 * const { did, privateJwk } = await generateAgentKey(); // a Principal grants to `did`
 * const agent = agentFromJwk(privateJwk);
 */
export function agentFromJwk(jwk: Ed25519PrivateJwk): Agent {
  const key = parseEd25519Jwk(jwk);
  const did = formatDidKey(key.publicKey);
  return { did, kid: `${did}#${did.slice('did:key:'.length)}`, sign: (bytes) => key.sign(bytes) };
}
