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
      'What was pushed last, how many production checks its cap has seen, and what follows from it now.',
    auth: ['provision', 'admin'],
    limiter: 'authenticated',
    params,
    responses: { 200: json(entitlement, 'The entitlement as it stands.') },
    errors: { NOT_FOUND: 'No such org.' },
  }),

  putEntitlement: defineRoute({
    method: 'put',
    path: '/orgs/{org_id}/entitlement',
    tag: 'Orgs',
    summary: 'Push the entitlement of an org',
    description: [
      'Replaces what is stored, unless that has a later `as_of`: pushes may arrive in any order and any number of times.',
      'After the answer no check is decided by what was stored before.',
    ].join('\n'),
    auth: ['provision', 'admin'],
    limiter: 'authenticated',
    params,
    body: entitlementRequest,
    responses: { 200: json(entitlement, 'The entitlement as it stands, and whether this push was stored.') },
    errors: { NOT_FOUND: 'No such org.' },
  }),
} as const;
