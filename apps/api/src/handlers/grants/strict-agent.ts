/** Agents named in requests: a key that no Proof could ever verify under is refused when it is named. */
import { type DidKey, parseDidKey } from '@svc/protocol';
import { invalidRequest, type ServiceDeps } from '@svc/service';

export const strictAgent = (
  { crypto }: Pick<ServiceDeps, 'crypto'>,
  member: string,
  text: string,
): DidKey => {
  const agent = parseDidKey(text);
  if (agent !== null && crypto.isStrictKey(agent.publicKey)) return agent.did;
  throw invalidRequest(
    `${member}: must be did:key:z6Mk… of a canonical Ed25519 key in the prime-order subgroup`,
  );
};
