/** Reports of a decision's outcome (interface §Endpoints, Decisions). */
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
      'Appends to the outcome ledger of a decision what happened to the purchase or call after it was allowed or',
      'denied. A report never changes. To correct a mistake, send another report that names it in `correction_of`;',
      'statistics then count only the correction. A decision accepts 100 reports.',
      '',
      'Two equal reports are two attestations. After a lost answer or a 503, look at the decision before you report',
      'again.',
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
      NOT_FOUND: 'Not one of this relying party’s decisions.',
    },
  }),
} as const;
