/** Production entitlements of orgs (interface §Endpoints, Onboarding and organizations). */
import { z } from 'zod';
import { orgId } from '../formats.ts';
import { entitlement, entitlementRequest } from '../resources/entitlement.ts';
import { defineRoute, json } from '../route.ts';

const params = z.strictObject({ org_id: orgId });

export const entitlementRoutes = {
  getEntitlement: defineRoute({
    method: 'get',
    path: '/orgs/{org_id}/entitlement',
    tag: 'Orgs',
    summary: 'Get the entitlement of an org',
    description:
      'The last pushed entitlement, how many production checks count against its cap, and what follows from this now.',
    auth: ['provision', 'admin'],
    limiter: 'authenticated',
    params,
    responses: { 200: json(entitlement, 'The entitlement as it is now.') },
    errors: { NOT_FOUND: 'No such org.' },
  }),

  putEntitlement: defineRoute({
    method: 'put',
    path: '/orgs/{org_id}/entitlement',
    tag: 'Orgs',
    summary: 'Push the entitlement of an org',
    description: [
      'Replaces the stored entitlement, unless the stored one has a later `as_of`: pushes may arrive in any order and',
      'any number of times. After the answer, no check is decided by the entitlement that was stored before.',
    ].join('\n'),
    auth: ['provision', 'admin'],
    limiter: 'authenticated',
    params,
    body: entitlementRequest,
    responses: { 200: json(entitlement, 'The entitlement as it is now, and whether this push was stored.') },
    errors: { NOT_FOUND: 'No such org.' },
  }),
} as const;
