/** The Principal's own record and its domain verification (interface §Principal lifecycle; protocol §13). */
import {
  type CallOptions,
  didInPath,
  getMe,
  type Principal,
  readPrincipal,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** This Principal's own record, and the proof of its domain. */
export interface OwnRecord {
  /** With how to prove the domain: either the TXT record or the well-known document suffices. */
  get(options?: CallOptions): Promise<Principal>;
  /** Looks for the proof now; see `verification.state` for what was found. Otherwise it is looked for every day. */
  verify(options?: CallOptions): Promise<Principal>;
}

export function createOwnRecord(transport: Transport, principal?: string): OwnRecord {
  return {
    async get(call = {}) {
      return transport.whole(call, async (whole) => {
        const path = await ownPath(transport, whole.rest(), principal);
        const { body } = await transport.send({ method: 'GET', path, hasEffect: false, ...whole.rest() });
        return readPrincipal(body, 'the Principal');
      });
    },
    async verify(call = {}) {
      return transport.whole(call, async (whole) => {
        const path = `${await ownPath(transport, whole.rest(), principal)}/verify`;
        const { body } = await transport.send({ method: 'POST', path, hasEffect: true, ...whole.rest() });
        return readPrincipal(body, 'the Principal');
      });
    },
  };
}

/** Where the service has what belongs to this Principal. */
export async function ownPath(transport: Transport, call: CallOptions, principal?: string): Promise<string> {
  return pathOf(await ownDid(transport, call, principal));
}

/** Path of one Principal. */
export const pathOf = (did: string): string => `/principals/${didInPath(did)}`;

/** The service says whose key this is, so that no DID has to be configured, but for the key of an org, which has several. */
export async function ownDid(transport: Transport, call: CallOptions, principal?: string): Promise<string> {
  if (principal !== undefined) return principal;
  const { role, subject } = await getMe(transport, call);
  if (role === 'principal') return subject;
  const which = role.startsWith('org') ? ': name the member as `principal` of createPrincipalClient' : '';
  throw new SvcError('configuration', `the API key is not a Principal's: ${role}${which}`);
}
