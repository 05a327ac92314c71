/** An Agent is its key: a did:key of Ed25519 (interface §Roles), with the signer that can speak for it. */
import { type DidKey, formatDidKey, type Signer } from '@svc/codec';
import { anObjectWith } from '@svc/sdk-core/arguments';
import { type Ed25519PrivateJwk, generateEd25519Jwk, parseEd25519Jwk } from './ed25519.ts';

/** A KMS can stand behind one: `did`, `kid` = `did:key:z6Mk…#z6Mk…`, and `sign` over exactly the bytes given. */
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
  /** What a Principal grants to. */
  did: DidKey;
  /** Keep it secret. */
  privateJwk: Ed25519PrivateJwk;
}

/** A new Agent: keep `privateJwk`, and have Principals grant to `did`. Nobody has to register it. */
export async function generateAgentKey(): Promise<AgentKey> {
  const privateJwk = await generateEd25519Jwk();
  return { did: agentFromJwk(privateJwk).did, privateJwk };
}

/**
 * The Agent that has this key.
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
