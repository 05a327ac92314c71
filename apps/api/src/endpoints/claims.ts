/** Whose a DID is, where the operator has to say it (protocol §13, Claims). */
import { releaseDid, type ServiceDeps, transferDid } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const claimEndpoints = (deps: ServiceDeps): HandlersOf<'claims'> => ({
  releaseClaim: async ({ caller, params: { did }, body: { kind }, requestId }) => {
    await releaseDid(deps, kind, did, { caller, requestId });
    return { status: 200, body: { did, kind, released: true } };
  },

  transferClaim: async ({ caller, params: { did }, body: { kind, org_id: toOrgId }, requestId }) => {
    await transferDid(deps, { caller, did, kind, toOrgId, requestId });
    return { status: 200, body: { did, kind, org_id: toOrgId } };
  },
});
