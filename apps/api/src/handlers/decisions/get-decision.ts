/** `GET /decisions/{receipt_id}`: the Receipt, byte for byte as it was answered, and its outcome ledger. */
import type { Routes } from '@svc/contract';
import { getDecision as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAttestation } from '../../endpoints/outcomes.ts';

export const getDecision =
  (deps: ServiceDeps): Handler<Routes['getDecision']> =>
  async ({ caller, params, query }) => {
    const { receiptText, outcomes } = await get(deps, caller, params.receipt_id, query.rp);
    const ledger = JSON.stringify(outcomes.map(presentAttestation));
    return { status: 200, rawBody: `{"receipt":${receiptText},"outcomes":${ledger}}` };
  };
