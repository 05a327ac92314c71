/** The relying party's own settings (interface §Relying party). */
import {
  type CallOptions,
  didInPath,
  getMe,
  type RelyingParty,
  readRelyingParty,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** How the service is set for this relying party. */
export interface OwnSettings {
  /** How the service treats this relying party: its Proof window, its rate limit, its profile. */
  get(options?: CallOptions): Promise<RelyingParty>;
}

export function createOwnSettings(transport: Transport, relyingParty: string | undefined): OwnSettings {
  return {
    async get(call = {}) {
      const did = relyingParty ?? (await ownDid(transport, call));
      const path = `/relying-parties/${didInPath(did)}`;
      const answer = await transport.send({ method: 'GET', path, hasEffect: false, ...call });
      const found = readRelyingParty(answer.body, 'the relying party');
      if (found.did !== did)
        throw new SvcError('bad-response', 'the service answered about another relying party', answer);
      return found;
    },
  };
}

async function ownDid(transport: Transport, call: CallOptions): Promise<string> {
  const { role, subject } = await getMe(transport, call);
  if (role !== 'rp') throw new SvcError('configuration', `the API key is not a relying party's: ${role}`);
  return subject;
}
