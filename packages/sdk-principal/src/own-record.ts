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
  /** The record, with the ways to prove the domain: either the TXT record or the well-known document suffices. */
  get(options?: CallOptions): Promise<Principal>;
  /** Looks for the proof now; `verification.state` says what was found. The service also looks for it every day. */
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

/** The path of what belongs to this Principal. */
export async function ownPath(transport: Transport, call: CallOptions, principal?: string): Promise<string> {
  return pathOf(await ownDid(transport, call, principal));
}

/** Path of one Principal. */
export const pathOf = (did: string): string => `/principals/${didInPath(did)}`;

/**
 * The service says whose key this is, so no DID has to be configured. An org's key needs one, because an org has
 * several members.
 */
export async function ownDid(transport: Transport, call: CallOptions, principal?: string): Promise<string> {
  if (principal !== undefined) return principal;
  const { role, subject } = await getMe(transport, call);
  if (role === 'principal') return subject;
  const which = role.startsWith('org') ? ': name the member as `principal` of createPrincipalClient' : '';
  throw new SvcError('configuration', `the API key is not a Principal's: ${role}${which}`);
}
