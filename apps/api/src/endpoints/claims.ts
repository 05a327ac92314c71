/** Claims: DIDs whose domain is not proven yet, and their release by the operator (protocol §13, Claims). */
import type { Body, Routes } from '@svc/contract';
import { type DidWeb, formatTimestamp } from '@svc/protocol';
import {
  domainOf,
  getClaims,
  type OpenClaim,
  proofPlaces,
  releaseDid,
  type ServiceDeps,
  type ServiceIdentity,
  transferDid,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const claimEndpoints = (deps: ServiceDeps): HandlersOf<'claims'> => ({
  getClaims: async ({ caller, params: { did } }) => ({
    status: 200,
    body: presentClaims(deps.identity, did, await getClaims(deps, caller, did)),
  }),

  releaseClaim: async ({ caller, params: { did }, body: { kind }, requestId }) => {
    await releaseDid(deps, kind, did, { caller, requestId });
    return { status: 200, body: { did, kind, released: true } };
  },

  transferClaim: async ({ caller, params: { did }, body: { kind, org_id: toOrgId }, requestId }) => {
    await transferDid(deps, { caller, did, kind, toOrgId, requestId });
    return { status: 200, body: { did, kind, org_id: toOrgId } };
  },
});

export const presentClaims = (
  identity: ServiceIdentity,
  did: DidWeb,
  claims: readonly OpenClaim[],
): Body<Routes['getClaims'], 200> => ({
  did,
  claims: claims.map(({ kind, expiresAtMs, token }) => ({
    ...{ kind, expires_at: formatTimestamp(expiresAtMs) },
    ...proofPlaces(identity, { did, domain: domainOf(did), token }),
  })),
});
