/** Decision and its outcome ledger (interface §Outcome attestations and decisions). */
import { z } from 'zod';
import { exampleReceipt } from '../examples.ts';
import { currency, didWeb, timestamp } from '../formats.ts';
import { receipt } from './receipt.ts';

export const attestation = z
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
    occurred_at: timestamp,
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
  .meta({ id: 'Attestation', description: 'What the relying party later reported about a decision.' });

export const decision = z
  .strictObject({ receipt, outcomes: z.array(attestation) })
  .meta({ id: 'Decision', example: { receipt: exampleReceipt, outcomes: [] } });
