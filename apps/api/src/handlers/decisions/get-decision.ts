/** `GET /decisions/{receipt_id}`: the Receipt, byte for byte as it was answered, and its outcome ledger. */
import type { Routes } from '@svc/contract';
import { getDecisionReceipt, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';

export const getDecision =
  (deps: ServiceDeps): Handler<Routes['getDecision']> =>
  async ({ caller, params, query }) => {
    const receipt = await getDecisionReceipt(deps, caller, params.receipt_id, query.rp);
    return { status: 200, rawBody: `{"receipt":${receipt},"outcomes":[]}` };
  };
