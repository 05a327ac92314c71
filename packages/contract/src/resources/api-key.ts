/**
 * API keys (interface §API keys and caller identity, protocol §13). Only the answer that issues a key contains its
 * value.
 */
import { z } from 'zod';
import { EXAMPLE, exampleApiKey } from '../examples.ts';
import { apiKeyId, apiKey as apiKeyValue, didWeb, label, orgId, timestamp } from '../formats.ts';

export const apiKeyRole = z.enum(['principal', 'rp', 'org:read', 'org:admin', 'observer']);

const fields = {
  key_id: apiKeyId,
  role: apiKeyRole,
  subject: z.union([didWeb, orgId]).meta({
    description:
      'The Principal or relying party; for an org key the org; for an observer key the service itself.',
  }),
  label: z.string().nullable(),
  created_at: timestamp,
  revoked_at: timestamp.nullable(),
};

const example = (role: z.output<typeof apiKeyRole>, subject: string) => ({
  key_id: EXAMPLE.keyId,
  role,
  subject,
  label: 'till 7',
  created_at: EXAMPLE.at,
  revoked_at: null,
});
const rpKey = example('rp', EXAMPLE.relyingParty);
const orgKey = example('org:read', EXAMPLE.orgId);
const observerKey = example('observer', 'did:web:svc.example');

const apiKey = z.strictObject(fields).meta({
  id: 'ApiKey',
  description:
    'An API key without its value. Times are RFC 3339 UTC with milliseconds, here and in every record.',
  example: rpKey,
});

export const apiKeyIssued = z.strictObject({ ...fields, api_key: apiKeyValue }).meta({
  id: 'ApiKeyIssued',
  description: 'A new API key, with its value.',
  example: { ...rpKey, api_key: exampleApiKey('dk_rp_') },
});

export const apiKeyList = z.strictObject({ subject: didWeb, keys: z.array(apiKey) }).meta({
  id: 'ApiKeyList',
  description:
    'API keys of one Principal or relying party, newest first: every live key, and the 900 that were revoked last.',
  example: { subject: EXAMPLE.relyingParty, keys: [rpKey] },
});

export const apiKeyRevoked = z
  .strictObject({ key_id: apiKeyId, revoked: z.literal(true), revoked_at: timestamp })
  .meta({
    id: 'ApiKeyRevoked',
    example: { key_id: EXAMPLE.keyId, revoked: true, revoked_at: EXAMPLE.at },
  });

export const apiKeyRequest = z
  .strictObject({ label: label.optional() })
  .meta({ id: 'ApiKeyRequest', example: { label: 'till 7' } });

export const orgApiKeyRequest = z
  .strictObject({ role: z.enum(['read', 'admin']), label: label.optional() })
  .meta({ id: 'OrgApiKeyRequest', example: { role: 'read', label: 'dashboard' } });

export const orgApiKeyList = z
  .strictObject({ org_id: orgId, keys: z.array(apiKey) })
  .meta({ id: 'OrgApiKeyList', example: { org_id: EXAMPLE.orgId, keys: [orgKey] } });

export const observerKeyList = z
  .strictObject({ keys: z.array(apiKey) })
  .meta({ id: 'ObserverKeyList', example: { keys: [observerKey] } });
