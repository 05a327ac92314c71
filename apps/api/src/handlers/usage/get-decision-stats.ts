/** `GET /decisions/stats`: decisions and their outcomes by Principal. */
import type { Routes } from '@svc/contract';
import { getDecisionStats as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentDecisionStats } from '../../endpoints/usage.ts';

export const getDecisionStats =
  (deps: ServiceDeps): Handler<Routes['getDecisionStats']> =>
  async ({ caller, query }) => ({
    status: 200,
    body: presentDecisionStats(await get(deps, caller, query)),
  });
