/** `POST /grants`: reserves a Grant id and a status entry for the calling Principal. */
import type { Routes } from '@svc/contract';
import { allocateGrant as allocate, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAllocation } from '../../endpoints/grants.ts';
import { strictAgent } from './strict-agent.ts';

export const allocateGrant =
  (deps: ServiceDeps): Handler<Routes['allocateGrant']> =>
  async ({ caller, body, requestId }) => {
    const agent = strictAgent(deps, 'agent', body.agent);
    return { status: 201, body: presentAllocation(await allocate(deps, caller, agent, requestId)) };
  };
