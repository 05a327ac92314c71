/** Reports of what became of a decision (interface §Endpoints, Decisions). */
import { z } from 'zod';
import { didWeb, receiptId } from '../formats.ts';
import { outcomeRecord } from '../resources/decision.ts';
import { outcomeEvent } from '../resources/outcome-event.ts';
import { defineRoute, json } from '../route.ts';

export const outcomeRoutes = {
  reportOutcome: defineRoute({
    method: 'post',
    path: '/decisions/{receipt_id}/outcomes',
    tag: 'Decisions',
    summary: 'Report an outcome',
    description: [
      'Appends to the outcome ledger of a decision: what became of the purchase or call that was allowed or denied.',
      'Nothing reported is ever changed. A mistake is corrected by another report that names it in `correction_of`;',
      'statistics then count the correction alone. A decision takes 100 reports.',
      '',
      'Two equal reports are two attestations. After a lost answer or a 503 look at the decision before reporting again.',
    ].join('\n'),
    auth: ['rp', 'org:admin'],
    limiter: 'authenticated',
    params: z.strictObject({ receipt_id: receiptId }),
    query: z.strictObject({
      subject: didWeb.optional().meta({
        description:
          'Org keys: the member relying party named in the Receipt (required). An RP key reports only for itself.',
      }),
    }),
    body: outcomeEvent,
    responses: { 201: json(outcomeRecord, 'Appended.') },
    errors: {
      FORBIDDEN: 'An org:read key, or an RP key that names another subject.',
      NOT_FOUND: "Not one of this relying party's decisions.",
    },
  }),
} as const;
