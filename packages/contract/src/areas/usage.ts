/** Counts of decisions: for a caller, for an observer, for everybody (interface §Endpoints; §Limits, Usage range). */
import { z } from 'zod';
import { apiKeyId, didWeb, queryInteger } from '../formats.ts';
import { statsRange } from '../parameters.ts';
import { decisionStats, metrics, usage } from '../resources/usage.ts';
import { defineRoute, json } from '../route.ts';

const rp = didWeb.optional().meta({ description: 'One relying party. Org keys: a member (default: all).' });

const PART_OF_DAY = [
  '',
  'A day that has left the database is counted from its sums. Where `since` or `until` lies within one, its decisions are',
  'counted one by one, into 100,000 different counts at most: for more the answer is 400, and a period of whole days is counted.',
];

const CACHE = { 'Cache-Control': 'How long the answer may be kept.' };

export const usageRoutes = {
  getUsage: defineRoute({
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary: 'Decisions per UTC day',
    description: [
      'An RP key sees its own verifies, a Principal key those against its Grants, an org key those of its relying',
      'parties or, with `principal`, those against the Grants of a member; the operator and observers everything. Counts',
      'are exact, today’s included.',
      ...PART_OF_DAY,
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'observer', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      ...statsRange,
      rp,
      principal: didWeb.optional().meta({ description: 'One Principal. Org keys: a member.' }),
      key_id: apiKeyId.optional().meta({ description: 'Verifies made with this API key alone.' }),
      by: z
        .enum(['key'], { error: 'must be key' })
        .optional()
        .meta({ description: '`key` adds a breakdown by API key to each day.' }),
    }),
    responses: { 200: json(usage, 'The counts.') },
    errors: { NOT_FOUND: 'The relying party or Principal named is not one that this key may see.' },
  }),

  getDecisionStats: defineRoute({
    method: 'get',
    path: '/decisions/stats',
    tag: 'Decisions',
    summary: 'Decisions and their outcomes by Principal',
    description: [
      'What was decided in a period, Principal by Principal: how often, why not, and what came of it. Outcomes count',
      'towards the day of their decision, whenever they were reported; one that has been corrected no longer counts.',
      ...PART_OF_DAY,
    ].join('\n'),
    auth: ['rp', 'org', 'observer', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      ...statsRange,
      rp,
      principal: didWeb.optional().meta({ description: 'One Principal.' }),
    }),
    responses: { 200: json(decisionStats, 'The statistics.') },
    errors: { NOT_FOUND: 'The relying party named is not one that this key may see.' },
  }),

  getMetrics: defineRoute({
    method: 'get',
    path: '/metrics',
    tag: 'Public',
    summary: 'The service in numbers',
    description:
      'Aggregates over all customers, up to ten seconds old. Nothing is said of any Principal that did not consent.',
    auth: [],
    limiter: 'public',
    query: z.strictObject({
      days: queryInteger(1, 366, 30).meta({ description: 'UTC days in `verifies`, today included.' }),
    }),
    responses: { 200: json(metrics, 'The numbers.', CACHE) },
    errors: {},
  }),
} as const;
