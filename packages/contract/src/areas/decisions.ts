/** Decisions (interface §Endpoints, Decisions). */
import { z } from 'zod';
import { didWeb, receiptId } from '../formats.ts';
import { decision } from '../resources/decision.ts';
import { defineRoute, json } from '../route.ts';

export const decisionRoutes = {
  getDecision: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}',
    tag: 'Decisions',
    summary: 'Get one decision',
    description: [
      'The Receipt as it was signed, and what was later reported about it. Use it to fetch a Receipt whose answer was',
      'lost, or to show an auditor what was decided.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ receipt_id: receiptId }),
    query: z.strictObject({
      rp: didWeb.optional().meta({ description: 'Org keys: one member relying party. Admin: any.' }),
    }),
    responses: { 200: json(decision, 'The Receipt and its outcomes.') },
    errors: { NOT_FOUND: "Not one of this relying party's decisions." },
  }),
} as const;
