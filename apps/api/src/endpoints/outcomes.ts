/** Attestations on the wire (interface §Outcome attestations). A member that was not given is left out. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { AttestationRecord } from '@svc/service';

export const presentAttestation = ({
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
}: AttestationRecord): Body<Routes['reportOutcome'], 201> => ({
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
