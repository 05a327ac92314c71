/**
 * Verifies the domain of a relying party that an org has registered (protocol §13). Once a proof has been found, the
 * relying party may decide, permanently. The operator answers for the relying parties that it registers, and the
 * service for those that it hosts.
 */

import { mayAdministerRelyingParty } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import { exclusiveKeyOfRelyingParty, findTenantFor } from '../access/tenant.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound, serviceUnavailable } from '../errors.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import { domainOf } from '../principals/domain.ts';

/** The relying party after the check. Its claim stays when no proof was found. */
export const verifyRelyingParty = async (
  deps: ServiceDeps,
  caller: Caller,
  did: string,
  requestId: string,
): Promise<RelyingPartyRecord> => {
  const claimed = await deps.store.relyingParties.find(did);
  if (claimed === null || !mayAdministerRelyingParty(caller, claimed))
    throw notFound(`No relying party ${did} for this key.`);
  const { verificationToken: token, claimExpiresAtMs } = claimed;
  if (claimExpiresAtMs === null || token === null) return claimed;
  const claim = { did: claimed.did, domain: domainOf(did), token };
  const outcome = await deps.domainProver.check(claim, await findTenantFor(deps.store, 'rp', claimed));
  if (outcome === 'unknown') throw serviceUnavailable(`the domain of ${did} could not be asked`);
  return outcome === 'absent' ? claimed : endClaim(deps, caller, claimed, requestId);
};

/**
 * Ends the claim, unless another registration has replaced it since it was read: the proof is about this registration's
 * token.
 */
const endClaim = (
  deps: ServiceDeps,
  caller: Caller,
  { did, verificationToken }: RelyingPartyRecord,
  requestId: string,
): Promise<RelyingPartyRecord> =>
  deps.store.transaction(
    async (tx) => {
      const locked = await tx.relyingParties.findForUpdate(did);
      if (locked === null || locked.verificationToken !== verificationToken)
        throw notFound(`No relying party ${did} for this key.`);
      if (locked.claimExpiresAtMs === null) return locked;
      await tx.relyingParties.endClaim(did);
      await tx.claims.forgetContesting({ did, kind: 'relying_party' });
      const { orgId } = locked;
      const details = { claim: 'proven' };
      await tx.audit.insert(
        auditEvent(deps, caller, { action: 'relying_party.update', target: did, requestId, orgId, details }),
      );
      const proven = await tx.relyingParties.find(did);
      if (proven === null) throw internal(`no relying party ${did}`);
      return proven;
    },
    { exclusiveKey: exclusiveKeyOfRelyingParty(did) },
  );
