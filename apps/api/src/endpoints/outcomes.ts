/** Outcomes that relying parties report for a decision (interface §Outcome attestations). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import { type OutcomeRecord, reportOutcome, type ServiceDeps } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const outcomeEndpoints = (deps: ServiceDeps): HandlersOf<'outcomes'> => ({
  reportOutcome: async ({ caller, params, query, body, requestId }) => {
    const outcome = await reportOutcome(deps, {
      caller,
      receiptId: params.receipt_id,
      subject: query.subject,
      report: body,
      requestId,
    });
    return { status: 201, body: presentOutcome(outcome) };
  },
});

/** Members that were not given are left out. */
export const presentOutcome = ({
  attestationId,
  type,
  occurredAt,
  recordedAtMs,
  reporter,
  evidenceRef,
  note,
  correctionOf,
  reporterSignature,
  resolution,
  lossAmount,
  currency,
  consumption,
}: OutcomeRecord): Body<Routes['reportOutcome'], 201> => ({
  attestation_id: attestationId,
  type,
  occurred_at: occurredAt,
  recorded_at: formatTimestamp(recordedAtMs),
  reporter,
  ...(evidenceRef === null ? {} : { evidence_ref: evidenceRef }),
  ...(note === null ? {} : { note }),
  ...(correctionOf === null ? {} : { correction_of: correctionOf }),
  ...(reporterSignature === null ? {} : { reporter_signature: reporterSignature }),
  ...(resolution === null ? {} : { resolution }),
  ...(lossAmount === null ? {} : { loss_amount: lossAmount }),
  ...(currency === null ? {} : { currency }),
  ...(consumption === null ? {} : { consumption }),
});
