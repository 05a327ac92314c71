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
      'The service sends the published vectors to an endpoint that speaks `svc-conformance-http v1`, and reports the',
      'answers. It sends JSON POSTs to that one URL only, at most 50 in at most two minutes. It follows no redirect and',
      'reaches only public addresses. An account may have one run at a time, an org with its members four, and a key',
      'may start ten runs an hour. Runs of different orgs are served in turn.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    body: conformanceRunRequest,
    responses: { 202: json(conformanceRun, 'Started. Get the run again for its result.') },
    errors: {
      INVALID_REQUEST: 'The endpoint is not https, carries credentials, or is a host of the service.',
      FORBIDDEN: 'The org has made as many changes as it may make without a plan.',
      CONFLICT: 'Another run of this account is in progress.',
      RATE_LIMITED:
        'The rate limit of the key, its limit of ten starts an hour, or the limit of four waiting or running runs of its org is reached.',
    },
  }),

  getConformanceRun: defineRoute({
    method: 'get',
    path: '/conformance/runs/{run_id}',
    tag: 'Conformance',
    summary: 'Get a conformance run',
    description:
      'A run of the account, and its report after the run has ended. Runs are kept for 30 days. For orgs that signed themselves up and have no plan, only the latest 1,000 runs of all these orgs are kept, each for at least an hour.',
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ run_id: conformanceRunId }),
    responses: { 200: json(conformanceRun, 'The run.') },
    errors: { NOT_FOUND: 'No such run of this account.' },
  }),
} as const;
