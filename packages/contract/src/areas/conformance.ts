/** Conformance runs by the service (interface §Conformance). */
import { z } from 'zod';
import { conformanceRunId } from '../formats.ts';
import { conformanceRun, conformanceRunRequest } from '../resources/conformance.ts';
import { defineRoute, json } from '../route.ts';

export const conformanceRoutes = {
  startConformanceRun: defineRoute({
    method: 'post',
    path: '/conformance/runs',
    tag: 'Conformance',
    summary: 'Start a conformance run',
    description: [
      'The service sends the published vectors to an endpoint that speaks `svc-conformance-http v1`, and reports what was',
      'answered. It sends JSON POSTs to that one URL, at most 50 in at most two minutes, follows no redirect, and reaches',
      'public addresses alone. An account has one run at a time, an org with its members four, and a key starts ten in an',
      'hour. Runs of different orgs are taken in turn.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    body: conformanceRunRequest,
    responses: { 202: json(conformanceRun, 'Started. Read it again for what came of it.') },
    errors: {
      INVALID_REQUEST: 'The endpoint is not https, carries credentials, or is a host of the service.',
      FORBIDDEN: 'The org has made as many changes as it may without a plan.',
      CONFLICT: 'A run of this account is running.',
      RATE_LIMITED:
        'The limit of the key, its ten starts of the hour, or four runs of its org that wait or are running.',
    },
  }),

  getConformanceRun: defineRoute({
    method: 'get',
    path: '/conformance/runs/{run_id}',
    tag: 'Conformance',
    summary: 'Get a conformance run',
    description:
      'A run of the account, and its report once it has ended. Runs are kept for 30 days; of orgs that signed themselves up and have no plan the latest 1,000 together, each for an hour at least.',
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ run_id: conformanceRunId }),
    responses: { 200: json(conformanceRun, 'The run.') },
    errors: { NOT_FOUND: 'No such run of this account.' },
  }),
} as const;
