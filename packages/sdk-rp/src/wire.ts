/** The records that only relying parties read (interface §Outcome attestations and decisions, §Relying party). */
import { isApiKeyId, isReceiptId, type JsonValue, type ReasonCode } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import {
  type Attestation,
  checked,
  type DecisionList,
  type DecisionSummary,
  didKey,
  didWeb,
  grantId,
  integer,
  jsonObject,
  list,
  nullable,
  oneOf,
  optional,
  orgId,
  type RelyingParty,
  record,
  text,
  timestamp,
} from '@svc/sdk-core';

export interface Decision {
  receipt: Receipt;
  /** The outcome ledger. */
  outcomes: Attestation[];
}

export type OutcomeType = Attestation['type'];

export const readAttestation = record<Attestation>({
  attestation_id: text,
  type: oneOf(
    'fulfilled',
    'cancelled',
    'dispute_opened',
    'dispute_resolved',
    'chargeback_received',
    'chargeback_reversed',
    'loss_reported',
  ),
  occurred_at: timestamp,
  recorded_at: timestamp,
  reporter: didWeb,
  evidence_ref: optional(text),
  note: optional(text),
  correction_of: optional(text),
  reporter_signature: optional(text),
  resolution: optional(oneOf('agent_at_fault', 'agent_not_at_fault', 'indeterminate')),
  loss_amount: optional(integer),
  currency: optional(text),
  consumption: optional(
    record<NonNullable<Attestation['consumption']>>({
      cause: oneOf('restore', 'restore_reversal'),
      version: integer,
    }),
  ),
});
const outcomes = list(readAttestation);

/** The two parts of a Decision; the Receipt still unchecked. */
export function readDecision(body: JsonValue): { receipt: JsonValue; outcomes: Attestation[] } {
  const decision = jsonObject(body, 'the decision');
  const receipt = jsonObject(decision.receipt, 'the decision.receipt');
  return { receipt, outcomes: outcomes(decision.outcomes, 'the decision.outcomes') };
}

export const readDecisionSummary = record<DecisionSummary>({
  receipt_id: checked('a Receipt id', isReceiptId),
  decision: oneOf('ALLOW', 'DENY'),
  // Any text: a newer service may know more reasons, and its ledger stays readable.
  reason: nullable(checked('text', (value): value is ReasonCode => typeof value === 'string')),
  evaluated_at: timestamp,
  principal: nullable(didWeb),
  grant_id: nullable(grantId),
  agent: nullable(didKey),
  rp: didWeb,
  key_id: nullable(checked('an API key id', isApiKeyId)),
  action_type: nullable(oneOf('commerce:purchase', 'api:call')),
  amount: nullable(integer),
  currency: nullable(text),
  resource: nullable(text),
  method: nullable(text),
});

export const readDecisionList = record<DecisionList>({
  decisions: list(readDecisionSummary),
  next_cursor: nullable(text),
});

export const readRelyingParty = record<RelyingParty>({
  did: didWeb,
  name: text,
  proof_window_seconds: integer,
  verify_rate_limit_per_minute: integer,
  created_at: timestamp,
  org_id: optional(nullable(orgId)),
  profile: optional(oneOf('svc-base-v1', 'svc-base-v2')),
});
