/** The open claims of a DID (protocol §13, Claims), for a caller that may read what is registered under it. */
import type { DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { mayReadPrincipal, mayReadRelyingParty } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';

/** An open claim with the members that are shown. */
export interface OpenClaim {
  readonly kind: ClaimKind;
  readonly expiresAtMs: number;
  readonly token: string;
}

/**
 * The open claims of the DID, at most one of each kind. `NOT_FOUND` when the caller may read neither the Principal nor
 * the relying party.
 */
export const getClaims = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  did: DidWeb,
): Promise<readonly OpenClaim[]> => {
  const [principal, relyingParty] = await Promise.all([
    store.principals.find(did),
    store.relyingParties.find(did),
  ]);
  const ownPrincipal = principal !== null && mayReadPrincipal(caller, principal) ? principal : null;
  const ownRelyingParty =
    relyingParty !== null && mayReadRelyingParty(caller, relyingParty) ? relyingParty : null;
  if (ownPrincipal === null && ownRelyingParty === null) throw notFound(`No ${did} for this key.`);
  return [
    ...(ownPrincipal === null ? [] : openClaim('principal', ownPrincipal)),
    ...(ownRelyingParty === null ? [] : openClaim('relying_party', ownRelyingParty)),
  ];
};

/** The claim as a list; empty when nothing is left to prove. */
export const openClaim = (
  kind: ClaimKind,
  {
    claimExpiresAtMs: expiresAtMs,
    verificationToken: token,
  }: Pick<RelyingPartyRecord, 'claimExpiresAtMs' | 'verificationToken'>,
): readonly OpenClaim[] => (expiresAtMs === null || token === null ? [] : [{ kind, expiresAtMs, token }]);
