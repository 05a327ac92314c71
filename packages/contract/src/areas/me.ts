/** Caller identity (interface §Endpoints, API keys, identity, audit, usage). */
import { me } from '../resources/me.ts';
import { defineRoute, json } from '../route.ts';

export const meRoutes = {
  getMe: defineRoute({
    method: 'get',
    path: '/me',
    tag: 'Identity',
    summary: 'Who am I?',
    description:
      'The subject of the key, the deployment that answers, and the DID whose keys sign its Receipts.',
    auth: ['principal', 'rp', 'org', 'observer'],
    limiter: 'authenticated',
    responses: {
      200: json(me, 'The subject of the key.', {
        'Svc-Time':
          'The time of the clock that dates Receipts, RFC 3339 with milliseconds. Absent while the service cannot rely on that clock.',
      }),
    },
    errors: {},
  }),
} as const;
