/** The records that Principals and relying parties both read (interface §Resources and their fields). */
import { isApiKeyId, isOrgId } from '@svc/protocol';
import {
  checked,
  didWeb,
  flag,
  integer,
  isDidWeb,
  jsonObject,
  list,
  nullable,
  oneOf,
  optional,
  orgId,
  type Reader,
  record,
  text,
  timestamp,
  variants,
} from './read.ts';
import type {
  ApiKey,
  ApiKeyIssued,
  ApiKeyList,
  ApiKeyRevoked,
  AuditEvent,
  AuditList,
  Me,
  OrgMember,
  Principal,
  PrincipalDirectory,
  PrincipalDirectoryEntry,
  Verification,
} from './wire.generated.ts';

const apiKeyId = checked('an API key id', isApiKeyId);
const didWebOrOrgId: Reader<ApiKey['subject']> = checked(
  'a did:web DID or an org id',
  (value): value is ApiKey['subject'] => isDidWeb(value) || isOrgId(value),
);
/** Any text: a newer service may audit more, and its log stays readable. */
const auditAction: Reader<AuditEvent['action']> = checked(
  'text',
  (value): value is AuditEvent['action'] => typeof value === 'string',
);
const role = oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer');
const kind = oneOf('managed', 'hosted');
const verificationState = oneOf('verified', 'unverified');
const keyState = oneOf('active', 'retired', 'compromised');

const verification = record<Verification>({
  state: verificationState,
  token: text,
  dns_txt: record<Verification['dns_txt']>({ name: text, value: text }),
  well_known: record<Verification['well_known']>({ url: text, body: jsonObject }),
  reverified_every_hours: oneOf(24),
  did_document_url: text,
});

export const readPrincipal = record<Principal>({
  did: didWeb,
  kind,
  domain: text,
  verification,
  created_at: timestamp,
  org_id: optional(nullable(orgId)),
  may_be_named: optional(flag),
});

export const readDirectoryEntry = record<PrincipalDirectoryEntry>({
  did: didWeb,
  kind,
  domain: text,
  verification: record<PrincipalDirectoryEntry['verification']>({
    state: verificationState,
    verified_since: nullable(timestamp),
    last_checked_at: nullable(timestamp),
    method: oneOf('domain', 'svc-hosted'),
  }),
  keys: list(
    record<PrincipalDirectoryEntry['keys'][number]>({ kid: text, state: keyState, since: timestamp }),
  ),
  did_document: nullable(jsonObject),
  registered_at: timestamp,
  may_be_named: optional(flag),
});

export const readDirectory = record<PrincipalDirectory>({
  principals: list(readDirectoryEntry),
  next_cursor: nullable(didWeb),
});

const apiKey = {
  key_id: apiKeyId,
  role,
  subject: didWebOrOrgId,
  label: nullable(text),
  created_at: timestamp,
  revoked_at: nullable(timestamp),
};

export const readApiKeyList = record<ApiKeyList>({
  subject: didWeb,
  keys: list(record<ApiKey>(apiKey)),
});
export const readApiKeyIssued = record<ApiKeyIssued>({ ...apiKey, api_key: text });
export const readApiKeyRevoked = record<ApiKeyRevoked>({
  key_id: apiKeyId,
  revoked: oneOf(true),
  revoked_at: timestamp,
});

export const readAuditList = record<AuditList>({
  events: list(
    record<AuditEvent>({
      event_id: text,
      occurred_at: timestamp,
      actor: record<AuditEvent['actor']>({
        kind: oneOf('admin', 'principal', 'rp', 'org', 'system'),
        did: nullable(didWebOrOrgId),
        key_id: nullable(apiKeyId),
      }),
      action: auditAction,
      target: nullable(text),
      request_id: nullable(text),
      details: jsonObject,
    }),
  ),
  next_cursor: nullable(text),
});

const orgMember = variants<'kind', OrgMember>('kind', {
  principal: record<Extract<OrgMember, { kind: 'principal' }>>({
    did: didWeb,
    kind: oneOf('principal'),
    created_at: timestamp,
    principal_kind: kind,
    domain: text,
    verification_state: verificationState,
    verification,
  }),
  relying_party: record<Extract<OrgMember, { kind: 'relying_party' }>>({
    did: didWeb,
    kind: oneOf('relying_party'),
    created_at: timestamp,
    name: text,
    proof_window_seconds: integer,
    verify_rate_limit_per_minute: integer,
  }),
});

export const readMe = record<Me>({
  subject: didWebOrOrgId,
  role,
  key_id: apiKeyId,
  service_did: didWeb,
  env: oneOf('development', 'production'),
  key_label: optional(nullable(text)),
  key_created_at: optional(timestamp),
  name: optional(text),
  proof_window_seconds: optional(integer),
  kind: optional(kind),
  verification: optional(verification),
  keys: optional(list(record<NonNullable<Me['keys']>[number]>({ kid: text, state: keyState }))),
  org_id: optional(nullable(orgId)),
  org: optional(
    record<NonNullable<Me['org']>>({ org_id: orgId, slug: text, name: text, created_at: timestamp }),
  ),
  members: optional(list(orgMember)),
  scope: optional(list(text)),
});
