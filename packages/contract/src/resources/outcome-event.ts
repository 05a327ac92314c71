/** What a relying party reports about its decision (interface §Outcome attestations). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { attestationId, currency, integer, prose, timestampOfAnySpelling } from '../formats.ts';

const common = {
  occurred_at: timestampOfAnySpelling.meta({
    description: 'The time when it happened: at most five minutes ahead of the service’s clock.',
    example: EXAMPLE.at,
  }),
  evidence_ref: prose(2_048)
    .optional()
    .meta({ description: 'The place where the reporter keeps the evidence.' }),
  note: prose(2_000).optional(),
  correction_of: attestationId.optional().meta({
    description:
      'The attestation that this report replaces. It must be of the same decision, must not be a correction itself, and must not be corrected yet.',
  }),
  reporter_signature: prose(4_096)
    .optional()
    .meta({ description: 'A value of the reporter; stored as given, not checked.' }),
};

const resolution = z.enum(['agent_at_fault', 'agent_not_at_fault', 'indeterminate']);
const lossAmount = integer(0, Number.MAX_SAFE_INTEGER);
const IN_MINOR_UNITS = { description: 'In minor units.' };
const NOT_COUNTED = 'Stored and shown; statistics count it only with `loss_reported`.';

/** Members that some other type requires. They are accepted and stored with every type. */
const ofAnyType = {
  resolution: resolution.optional(),
  loss_amount: lossAmount.optional().meta({ description: `In minor units. ${NOT_COUNTED}` }),
  currency: currency.optional(),
};

export const outcomeEvent = z
  .discriminatedUnion('type', [
    z
      .strictObject({
        type: z.enum([
          'fulfilled',
          'cancelled',
          'dispute_opened',
          'chargeback_received',
          'chargeback_reversed',
        ]),
        ...common,
        ...ofAnyType,
      })
      .meta({
        id: 'PlainOutcomeEvent',
        description: 'What happened; further particulars are optional.',
        example: { type: 'fulfilled', occurred_at: EXAMPLE.at },
      }),
    z
      .strictObject({
        type: z.literal('dispute_resolved'),
        ...common,
        ...ofAnyType,
        resolution,
      })
      .meta({
        id: 'DisputeResolvedEvent',
        description: 'How a dispute ended.',
        example: {
          type: 'dispute_resolved',
          occurred_at: EXAMPLE.at,
          resolution: 'agent_not_at_fault',
        },
      }),
    z
      .strictObject({
        type: z.literal('loss_reported'),
        ...common,
        ...ofAnyType,
        loss_amount: lossAmount.meta(IN_MINOR_UNITS),
        currency,
      })
      .meta({
        id: 'LossReportedEvent',
        description: 'What it cost the relying party.',
        example: { type: 'loss_reported', occurred_at: EXAMPLE.at, loss_amount: 42_700, currency: 'USD' },
      }),
  ])
  .meta({ id: 'OutcomeEvent', description: 'What a relying party reports about one of its decisions.' });
