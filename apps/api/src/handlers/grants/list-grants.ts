/** `GET /grants`: one page, newest first. */
import type { Routes } from '@svc/contract';
import { listGrants as list, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentGrantSummary } from '../../endpoints/grants.ts';

export const listGrants =
  (deps: ServiceDeps): Handler<Routes['listGrants']> =>
  async ({ caller, query }) => {
    const { grants, nextCursor } = await list(deps, caller, query);
    return { status: 200, body: { grants: grants.map(presentGrantSummary), next_cursor: nextCursor } };
  };
