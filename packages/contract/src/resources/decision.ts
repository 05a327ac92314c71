/** Decision and its outcome ledger (interface §Outcome attestations and decisions). */
import { z } from 'zod';
import { EXAMPLE, exampleReceipt } from '../examples.ts';
import {
  apiKeyId,
  currency,
  didKey,
  didWeb,
  grantId,
  integer,
  receiptId,
  timestamp,
  timestampOfAnySpelling,
} from '../formats.ts';
import { reasonCode, receipt } from './receipt.ts';

export const outcomeRecord = z
  .strictObject({
    attestation_id: z.string().regex(/^oat_/),
    type: z.enum([
      'fulfilled',
      'cancelled',
      'dispute_opened',
      'dispute_resolved',
      'chargeback_received',
      'chargeback_reversed',
      'loss_reported',
    ]),
    occurred_at: timestampOfAnySpelling.meta({ description: 'As the relying party reported it.' }),
    recorded_at: timestamp,
    reporter: didWeb,
    evidence_ref: z.string().optional(),
    note: z.string().optional(),
    correction_of: z.string().regex(/^oat_/).optional(),
    reporter_signature: z.string().optional(),
    resolution: z.enum(['agent_at_fault', 'agent_not_at_fault', 'indeterminate']).optional(),
    loss_amount: z.int().min(0).optional(),
    currency: currency.optional(),
    consumption: z
      .strictObject({ cause: z.enum(['restore', 'restore_reversal']), version: z.int().min(0) })
      .optional(),
  })
  .meta({
    id: 'Attestation',
    description: 'What the relying party reported about a decision later.',
    example: {
      attestation_id: 'oat_01M7VZGC008Q2R7V9X1C4E6H8N',
      type: 'fulfilled',
      occurred_at: EXAMPLE.at,
      recorded_at: EXAMPLE.at,
      reporter: EXAMPLE.relyingParty,
    },
  });

export const decision = z.strictObject({ receipt, outcomes: z.array(outcomeRecord) }).meta({
  id: 'Decision',
  description: 'A decision: its Receipt as stored, and what was reported about it later.',
  example: { receipt: exampleReceipt, outcomes: [] },
});

const exampleSummary = {
  receipt_id: EXAMPLE.receiptId,
  decision: 'ALLOW',
  reason: null,
  evaluated_at: EXAMPLE.at,
  principal: EXAMPLE.principal,
  grant_id: EXAMPLE.grantId,
  agent: EXAMPLE.agent,
  rp: EXAMPLE.relyingParty,
  key_id: EXAMPLE.keyId,
  action_type: 'commerce:purchase',
  amount: 4200,
  currency: 'USD',
  resource: 'order/1001',
  method: null,
};

const decisionSummary = z
  .strictObject({
    receipt_id: receiptId,
    decision: z.enum(['ALLOW', 'DENY']),
    reason: reasonCode.nullable(),
    evaluated_at: timestamp,
    principal: didWeb.nullable().meta({ description: 'Null: the verification authenticated no Grant.' }),
    grant_id: grantId.nullable(),
    agent: didKey.nullable(),
    rp: didWeb,
    key_id: apiKeyId.nullable().meta({
      description:
        'The RP key that requested the verification; null for decisions from before keys were recorded.',
    }),
    action_type: z.enum(['commerce:purchase', 'api:call']).nullable().meta({
      description: 'This and the following members are null for a malformed action and after seven years.',
    }),
    amount: integer(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .meta({ description: 'The amount of a purchase, in minor units.' }),
    currency: currency.nullable(),
    resource: z.string().nullable().meta({ description: 'As submitted.' }),
    method: z.string().nullable().meta({ description: 'The method of an `api:call`.' }),
  })
  .meta({
    id: 'DecisionSummary',
    description: 'One line about a decision. The Receipt is authoritative.',
    example: exampleSummary,
  });

export const decisionList = z
  .strictObject({ decisions: z.array(decisionSummary), next_cursor: z.string().nullable() })
  .meta({
    id: 'DecisionList',
    description:
      'One page of decisions, newest first. `next_cursor` is the `cursor` of the next page; null on the last page.',
    example: { decisions: [exampleSummary], next_cursor: null },
  });

export const decisionExportRow = decisionSummary.extend({ receipt, outcomes: z.array(outcomeRecord) }).meta({
  id: 'DecisionExportRow',
  description: 'One line of the export: the summary, the Receipt and its outcomes.',
  example: { ...exampleSummary, receipt: exampleReceipt, outcomes: [] },
});
