/** `POST /revoke`: 200 only once the revocation is visible everywhere. */
import type { Routes } from '@svc/contract';
import { actingPrincipal, revokeGrant as revoke, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentRevocation } from '../../endpoints/grants.ts';

export const revokeGrant =
  (deps: ServiceDeps): Handler<Routes['revokeGrant']> =>
  async ({ caller, query, body, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const revocation = await revoke(deps, caller, principal, body.grant_id, requestId);
    return { status: 200, body: presentRevocation(revocation) };
  };
