/** Orgs and their keys (interface §Endpoints, Onboarding and organizations). */
import { z } from 'zod';
import { apiKeyId, orgId } from '../formats.ts';
import { apiKeyIssued, apiKeyRevoked, orgApiKeyList, orgApiKeyRequest } from '../resources/api-key.ts';
import { org, orgCreateRequest, orgMemberAdded, orgMemberRequest, orgWithMembers } from '../resources/org.ts';
import { defineRoute, json } from '../route.ts';

const params = z.strictObject({ org_id: orgId });

export const orgRoutes = {
  createOrg: defineRoute({
    method: 'post',
    path: '/orgs',
    tag: 'Orgs',
    summary: 'Create an org',
    description: 'A customer account, which owns Principals and relying parties and has its own keys.',
    auth: ['admin'],
    limiter: 'authenticated',
    body: orgCreateRequest,
    responses: { 201: json(org, 'Created, without members and keys.') },
    errors: { CONFLICT: 'The slug is taken.' },
  }),

  getOrg: defineRoute({
    method: 'get',
    path: '/orgs/{org_id}',
    tag: 'Orgs',
    summary: 'Get an org',
    description:
      'The org and all its members: Principals first, then relying parties, each by ascending DID.',
    auth: ['org', 'admin'],
    limiter: 'authenticated',
    params,
    responses: { 200: json(orgWithMembers, 'The org and its members.') },
    errors: {},
  }),

  addOrgMember: defineRoute({
    method: 'post',
    path: '/orgs/{org_id}/members',
    tag: 'Orgs',
    summary: 'Add a member',
    description: [
      'Adds a registered Principal or relying party to the org, whose keys may read and administer it from then on. You',
      'may repeat the call. A member of another org stays in that org. A DID can be both a Principal and a relying',
      'party, which may belong to two customers; `kind` then says which of the two to add.',
    ].join('\n'),
    auth: ['admin'],
    limiter: 'authenticated',
    params,
    body: orgMemberRequest,
    responses: { 201: json(orgMemberAdded, 'The DID is a member of this org.') },
    errors: {
      NOT_FOUND: 'No such org, or no Principal or relying party of that DID.',
      CONFLICT:
        'The DID is in another org. Or it is both a Principal and a relying party, neither is in this org, and `kind` does not say which one is meant.',
    },
  }),

  listOrgApiKeys: defineRoute({
    method: 'get',
    path: '/orgs/{org_id}/api-keys',
    tag: 'Orgs',
    summary: 'List the keys of an org',
    description:
      'Ids and labels, newest first: every live key, and the 900 that were revoked last. The value of a key is never listed.',
    auth: ['org', 'admin'],
    limiter: 'authenticated',
    params,
    responses: { 200: json(orgApiKeyList, 'The keys of the org itself, not those of its members.') },
    errors: {},
  }),

  issueOrgApiKey: defineRoute({
    method: 'post',
    path: '/orgs/{org_id}/api-keys',
    tag: 'Orgs',
    summary: 'Issue an org key',
    description: [
      '`read`: every GET about the org and its members. `admin`: also onboarding, keys, revocation, Agents, and settings',
      'of relying parties. The key is shown only in this answer.',
    ].join('\n'),
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    params,
    body: orgApiKeyRequest,
    responses: { 201: json(apiKeyIssued, 'Issued. Keep the key: it is not shown again.') },
    errors: {
      INVALID_REQUEST:
        'The role or label is malformed; or the org has as many live keys of its own as it may have (20 unless set otherwise).',
    },
  }),

  revokeOrgApiKey: defineRoute({
    method: 'post',
    path: '/orgs/{org_id}/api-keys/{key_id}/revoke',
    tag: 'Orgs',
    summary: 'Revoke an org key',
    description: 'Takes effect at once and for good; a key may revoke itself. You may repeat the call.',
    auth: ['org:admin', 'admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: z.strictObject({ org_id: orgId, key_id: apiKeyId }),
    responses: { 200: json(apiKeyRevoked, 'Revoked.') },
    errors: { NOT_FOUND: 'No such org, or no such key of it.' },
  }),
} as const;
