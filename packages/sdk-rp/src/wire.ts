/** Records of the service as they travel (interface §Resources and their fields), and the checks that read them. */
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';

export type OutcomeType =
  | 'fulfilled'
  | 'cancelled'
  | 'dispute_opened'
  | 'dispute_resolved'
  | 'chargeback_received'
  | 'chargeback_reversed'
  | 'loss_reported';

/** One entry of a decision's outcome ledger. */
export interface Attestation {
  attestation_id: string;
  reporter: string;
  recorded_at: string;
  type: OutcomeType;
  occurred_at: string;
  evidence_ref?: string;
  note?: string;
  correction_of?: string;
  reporter_signature?: string;
  resolution?: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
  /** Minor units of `currency`. */
  loss_amount?: number;
  currency?: string;
  consumption?: { cause: 'restore' | 'restore_reversal'; version: number };
}

export interface Decision {
  receipt: Receipt;
  outcomes: Attestation[];
}

export interface Me {
  subject: string;
  role: string;
  key_id: string;
  service_did: string;
  env: string;
  [member: string]: JsonValue;
}

/** The two parts of a Decision; the Receipt still unchecked. */
export function parseDecision(body: JsonValue): { receipt: JsonValue; outcomes: Attestation[] } {
  const { receipt, outcomes } = object(body);
  if (receipt === undefined || !Array.isArray(outcomes)) throw unexpected('a decision');
  return { receipt, outcomes: outcomes.map(parseAttestation) };
}

export function parseMe(body: JsonValue): Me {
  const me = object(body);
  const { subject, role, key_id, service_did, env } = me;
  return {
    ...me,
    subject: text(subject),
    role: text(role),
    key_id: text(key_id),
    service_did: text(service_did),
    env: text(env),
  };
}

/** The members that every attestation has; the others are as the ledger holds them. */
function parseAttestation(value: JsonValue): Attestation {
  const attestation = object(value);
  for (const name of ['attestation_id', 'reporter', 'recorded_at', 'type', 'occurred_at'])
    text(attestation[name]);
  return attestation as unknown as Attestation;
}

const unexpected = (what: string): SvcError =>
  new SvcError('bad-response', `the service's answer is not of the interface: expected ${what}`);

function object(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw unexpected('an object');
  return value;
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || value === '') throw unexpected('text');
  return value;
}
