/** `POST /agents/{did}/disable`: 200 only once every revocation is visible everywhere. */
import type { Routes } from '@svc/contract';
import { actingPrincipal, disableAgent as disable, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentDisabledAgent } from '../../endpoints/agents.ts';

export const disableAgent =
  (deps: ServiceDeps): Handler<Routes['disableAgent']> =>
  async ({ caller, params, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const disabled = await disable(deps, { caller, principal, agent: params.did, requestId });
    return { status: 200, body: presentDisabledAgent(disabled) };
  };
