/** The audit log (interface §Endpoints, API keys, identity, audit, usage). */
import { z } from 'zod';
import { cursor, didWeb, instant, orgId, pageLimit, searchText } from '../formats.ts';
import { auditAction, auditList } from '../resources/audit.ts';
import { defineRoute, json } from '../route.ts';

export const auditRoutes = {
  listAudit: defineRoute({
    method: 'get',
    path: '/audit',
    tag: 'Audit',
    summary: 'List audit events',
    description: [
      'Lists who changed what, newest first. A Principal or RP key sees what its subject did, an org key what the org',
      'and its members did, and the operator everything. Decisions are not listed here: each decision has a Receipt.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({
      actor: z
        .union([didWeb, orgId], { error: 'must be a did:web DID or an org id' })
        .optional()
        .meta({ description: 'Admin only: a DID or an org id.' }),
      action: auditAction.optional(),
      target: searchText.optional().meta({ description: 'The exact target of the event.' }),
      since: instant.optional().meta({ description: 'Events at this instant or later.' }),
      until: instant.optional().meta({ description: 'Events before this instant.' }),
      limit: pageLimit,
      cursor: cursor.optional(),
    }),
    responses: { 200: json(auditList, 'One page of events.') },
    errors: { FORBIDDEN: 'Only the operator may use `actor`.' },
  }),
} as const;
