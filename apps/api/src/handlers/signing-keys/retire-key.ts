/** `POST /keys/{kid}/retire`. */
import type { Routes } from '@svc/contract';
import { actingPrincipal, retireKey as retire, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

export const retireKey =
  (deps: ServiceDeps): Handler<Routes['retireKey']> =>
  async ({ caller, params: { kid }, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const state = await retire(deps, { caller, principal, kid, requestId });
    return { status: 200, body: { kid, state } };
  };
