/** `GET /usage`: decisions per UTC day. */
import type { Routes } from '@svc/contract';
import { getUsage as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentUsage } from '../../endpoints/usage.ts';

export const getUsage =
  (deps: ServiceDeps): Handler<Routes['getUsage']> =>
  async ({ caller, query }) => {
    const usage = await get(deps, caller, query);
    return { status: 200, body: presentUsage(usage, caller.class === 'org') };
  };
