/** What is still to be proven of a DID (protocol §13, Claims), for whoever may read what is registered under it. */
import type { DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { mayReadPrincipal, mayReadRelyingParty } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';

/** A claim that is open, as far as it has to be shown. */
export interface OpenClaim {
  readonly kind: ClaimKind;
  readonly expiresAtMs: number;
  readonly token: string;
}

/** One of each kind at most. `NOT_FOUND` where the caller may read neither. */
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

/** Empty where nothing is left to prove. */
export const openClaim = (
  kind: ClaimKind,
  {
    claimExpiresAtMs: expiresAtMs,
    verificationToken: token,
  }: Pick<RelyingPartyRecord, 'claimExpiresAtMs' | 'verificationToken'>,
): readonly OpenClaim[] => (expiresAtMs === null || token === null ? [] : [{ kind, expiresAtMs, token }]);
