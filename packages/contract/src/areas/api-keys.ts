/** API keys of Principals, relying parties and observers (interface §Endpoints, API keys, identity, audit, usage). */
import { z } from 'zod';
import { apiKeyId, didWeb } from '../formats.ts';
import {
  apiKeyIssued,
  apiKeyList,
  apiKeyRequest,
  apiKeyRevoked,
  observerKeyList,
} from '../resources/api-key.ts';
import { defineRoute, json } from '../route.ts';

const subject = z.strictObject({
  subject: didWeb.optional().meta({
    description:
      'Whose keys. Required with an org key (a member) and for the operator (any Principal or relying party).',
  }),
});
const keyParams = z.strictObject({ key_id: apiKeyId });
const UNKNOWN_SUBJECT = 'No such subject for this key.';

export const apiKeyRoutes = {
  listApiKeys: defineRoute({
    method: 'get',
    path: '/api-keys',
    tag: 'API keys',
    summary: 'List API keys',
    description:
      "Ids and labels of the subject's keys, the newest first: every live one, and the 900 that were revoked last; never a key's value.",
    auth: ['rp', 'principal', 'org', 'admin'],
    limiter: 'authenticated',
    query: subject,
    responses: { 200: json(apiKeyList, 'The keys of the subject.') },
    errors: { NOT_FOUND: UNKNOWN_SUBJECT },
  }),

  issueApiKey: defineRoute({
    method: 'post',
    path: '/api-keys',
    tag: 'API keys',
    summary: 'Issue an API key',
    description: [
      'Any live key of a subject issues further ones; an org:admin key issues for members. The new key does not end the',
      'old one: to rotate, issue, change over, then revoke. The key is shown only in this answer.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    query: subject,
    body: apiKeyRequest,
    responses: { 201: json(apiKeyIssued, 'Issued. Keep the key: it is not shown again.') },
    errors: {
      NOT_FOUND: UNKNOWN_SUBJECT,
      INVALID_REQUEST:
        'A bad label; or the subject has as many live keys as it may (20 unless set otherwise); or the DID is both a Principal and a relying party: issue with a key of the one that is meant.',
    },
  }),

  revokeApiKey: defineRoute({
    method: 'post',
    path: '/api-keys/{key_id}/revoke',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: [
      'At once, on every node, and for good: a verification still under way with the key is not answered any more. The',
      'key that calls may revoke itself. An org:admin key revokes keys of its members, found by their id.',
      'Repeating the call is harmless.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    params: keyParams,
    query: z.strictObject({
      subject: didWeb.optional().meta({ description: 'For the operator alone: whose key it must be.' }),
    }),
    responses: { 200: json(apiKeyRevoked, 'Revoked.') },
    errors: {
      NOT_FOUND: "Not one of the subject's keys.",
      FORBIDDEN: 'An org:read key, or an org:admin key that names a `subject`.',
    },
  }),

  listObserverKeys: defineRoute({
    method: 'get',
    path: '/observer-keys',
    tag: 'API keys',
    summary: 'List observer keys',
    description: 'The newest first: every live one, and the 900 that were revoked last.',
    auth: ['admin'],
    limiter: 'authenticated',
    responses: { 200: json(observerKeyList, 'The observer keys.') },
    errors: {},
  }),

  issueObserverKey: defineRoute({
    method: 'post',
    path: '/observer-keys',
    tag: 'API keys',
    summary: 'Issue an observer key',
    description:
      'Reads service-wide statistics and usage, nothing else. The key is shown only in this answer.',
    auth: ['admin'],
    limiter: 'authenticated',
    body: apiKeyRequest,
    responses: { 201: json(apiKeyIssued, 'Issued. Keep the key: it is not shown again.') },
    errors: { INVALID_REQUEST: 'There are as many live observer keys as there may be.' },
  }),

  revokeObserverKey: defineRoute({
    method: 'post',
    path: '/observer-keys/{key_id}/revoke',
    tag: 'API keys',
    summary: 'Revoke an observer key',
    description: 'At once and for good. Repeating the call is harmless.',
    auth: ['admin'],
    limiter: 'authenticated',
    params: keyParams,
    responses: { 200: json(apiKeyRevoked, 'Revoked.') },
    errors: { NOT_FOUND: 'No such observer key.' },
  }),
} as const;
