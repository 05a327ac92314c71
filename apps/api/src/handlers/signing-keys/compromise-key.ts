/** `POST /keys/{kid}/compromise`: 200 only once it is visible everywhere. */
import type { Routes } from '@svc/contract';
import { actingPrincipal, compromiseKey as compromise, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

export const compromiseKey =
  (deps: ServiceDeps): Handler<Routes['compromiseKey']> =>
  async ({ caller, params: { kid }, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    await compromise(deps, { caller, principal, kid, requestId });
    return { status: 200, body: { kid, state: 'compromised' } };
  };
