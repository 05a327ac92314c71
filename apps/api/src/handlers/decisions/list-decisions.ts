/** `GET /decisions`: one page, newest first. */
import type { Routes } from '@svc/contract';
import { listDecisions as list, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentDecisionSummary } from '../../endpoints/decisions/summary.ts';

export const listDecisions =
  (deps: ServiceDeps): Handler<Routes['listDecisions']> =>
  async ({ caller, query }) => {
    const { decisions, nextCursor } = await list(deps, caller, query);
    return {
      status: 200,
      body: { decisions: decisions.map(presentDecisionSummary), next_cursor: nextCursor },
    };
  };
