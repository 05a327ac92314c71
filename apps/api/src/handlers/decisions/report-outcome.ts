/** `POST /decisions/{receipt_id}/outcomes`: what became of a decision. */
import type { Routes } from '@svc/contract';
import { reportOutcome as report, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAttestation } from '../../endpoints/outcomes.ts';

export const reportOutcome =
  (deps: ServiceDeps): Handler<Routes['reportOutcome']> =>
  async ({ caller, params, query, body, requestId }) => {
    const attestation = await report(deps, {
      caller,
      receiptId: params.receipt_id,
      subject: query.subject,
      report: body,
      requestId,
    });
    return { status: 201, body: presentAttestation(attestation) };
  };
