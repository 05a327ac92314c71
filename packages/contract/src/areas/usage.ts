/** Numbers of decisions: for a caller, for an observer, for the public (interface §Endpoints; §Limits, Usage range). */
import { z } from 'zod';
import { apiKeyId, didWeb, queryInteger } from '../formats.ts';
import { statsRange } from '../parameters.ts';
import { decisionStats, metrics, usage } from '../resources/usage.ts';
import { defineRoute, json } from '../route.ts';

const rp = didWeb.optional().meta({ description: 'One relying party. Org keys: a member (default: all).' });

const PART_OF_DAY = [
  '',
  'A day that has left the database is counted from its stored sums. If `since` or `until` lies within such a day, its',
  'decisions are counted one by one, into at most 100,000 different counts. For more the answer is 400; then ask for whole days.',
];

const CACHE = { 'Cache-Control': 'How long the answer may be cached.' };

export const usageRoutes = {
  getUsage: defineRoute({
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary: 'Decisions per UTC day',
    description: [
      'An RP key sees its own verifications, and a Principal key those against its Grants. An org key sees those of its',
      'relying parties or, with `principal`, those against the Grants of a member. The operator and observers see',
      'everything. Counts are exact and include today.',
      ...PART_OF_DAY,
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'observer', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      ...statsRange,
      rp,
      principal: didWeb.optional().meta({ description: 'One Principal. Org keys: a member.' }),
      key_id: apiKeyId.optional().meta({ description: 'Only verifications made with this API key.' }),
      by: z
        .enum(['key'], { error: 'must be key' })
        .optional()
        .meta({ description: '`key` adds a breakdown by API key to each day.' }),
    }),
    responses: { 200: json(usage, 'The counts.') },
    errors: { NOT_FOUND: 'This key may not see this relying party or Principal.' },
  }),

  getDecisionStats: defineRoute({
    method: 'get',
    path: '/decisions/stats',
    tag: 'Decisions',
    summary: 'Decisions and their outcomes by Principal',
    description: [
      'The decisions of a period by Principal: how many, the reasons of denials, and the outcomes. An outcome counts',
      'for the day of its decision, whenever it was reported; an outcome that was corrected no longer counts.',
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
    errors: { NOT_FOUND: 'This key may not see this relying party.' },
  }),

  getMetrics: defineRoute({
    method: 'get',
    path: '/metrics',
    tag: 'Public',
    summary: 'Get public numbers of the service',
    description:
      'Aggregates over all customers, up to ten seconds old. They name only Principals that consented.',
    auth: [],
    limiter: 'public',
    query: z.strictObject({
      days: queryInteger(1, 366, 30).meta({ description: 'UTC days in `verifies`, today included.' }),
    }),
    responses: { 200: json(metrics, 'The numbers.', CACHE) },
    errors: {},
  }),
} as const;
