/** `POST /agents`: an Agent into the Principal's inventory. */
import type { Routes } from '@svc/contract';
import { actingPrincipal, registerAgent as register, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAgent } from '../../endpoints/agents.ts';
import { strictAgent } from '../grants/strict-agent.ts';

export const registerAgent =
  (deps: ServiceDeps): Handler<Routes['registerAgent']> =>
  async ({ caller, query, body, requestId }) => {
    const did = strictAgent(deps, 'did', body.did);
    const principal = await actingPrincipal(deps, caller, query.principal);
    return { status: 201, body: presentAgent(await register(deps, caller, principal, did, requestId)) };
  };
