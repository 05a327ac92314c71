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
      'The subject of the keys. Required for an org key (a member) and for the operator (any Principal or relying party).',
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
      'Ids and labels of the subject’s keys, newest first: every live key, and the 900 that were revoked last. The value of a key is never listed.',
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
      'Any live key of a subject can issue further keys; an org:admin key issues keys for members. The new key does not',
      'end the old one: to rotate, issue a key, switch to it, then revoke the old one. The key is shown only in this',
      'answer.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    query: subject,
    body: apiKeyRequest,
    responses: { 201: json(apiKeyIssued, 'Issued. Keep the key: it is not shown again.') },
    errors: {
      NOT_FOUND: UNKNOWN_SUBJECT,
      INVALID_REQUEST:
        'The label is malformed; or the subject has as many live keys as it may have (20 unless set otherwise); or the DID is both a Principal and a relying party: then issue with a key of the one that you mean.',
    },
  }),

  revokeApiKey: defineRoute({
    method: 'post',
    path: '/api-keys/{key_id}/revoke',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: [
      'Takes effect at once, on every node, and for good: a verification still in progress with the key is not answered',
      'any more. A key may revoke itself. An org:admin key revokes keys of its members, found by their id. You may',
      'repeat the call.',
    ].join('\n'),
    auth: ['rp', 'principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: keyParams,
    query: z.strictObject({
      subject: didWeb
        .optional()
        .meta({ description: 'Only for the operator: the subject to which the key must belong.' }),
    }),
    responses: { 200: json(apiKeyRevoked, 'Revoked.') },
    errors: {
      NOT_FOUND: 'Not one of the subject’s keys.',
      FORBIDDEN: 'An org:read key, or an org:admin key that names a `subject`.',
    },
  }),

  listObserverKeys: defineRoute({
    method: 'get',
    path: '/observer-keys',
    tag: 'API keys',
    summary: 'List observer keys',
    description: 'Newest first: every live key, and the 900 that were revoked last.',
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
      'An observer key reads service-wide statistics and usage, and nothing else. The key is shown only in this answer.',
    auth: ['admin'],
    limiter: 'authenticated',
    body: apiKeyRequest,
    responses: { 201: json(apiKeyIssued, 'Issued. Keep the key: it is not shown again.') },
    errors: { INVALID_REQUEST: 'The limit of live observer keys is reached.' },
  }),

  revokeObserverKey: defineRoute({
    method: 'post',
    path: '/observer-keys/{key_id}/revoke',
    tag: 'API keys',
    summary: 'Revoke an observer key',
    description: 'Takes effect at once and for good. You may repeat the call.',
    auth: ['admin'],
    limiter: 'authenticated',
    params: keyParams,
    responses: { 200: json(apiKeyRevoked, 'Revoked.') },
    errors: { NOT_FOUND: 'No such observer key.' },
  }),
} as const;
