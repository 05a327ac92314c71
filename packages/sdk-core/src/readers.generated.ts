/** Generated from the contract by `pnpm --filter @svc/sdk-core generate`. Do not edit. */
import type { Reader } from './read.ts';
import {
  apiKeyId,
  closed,
  didKey,
  didWeb,
  either,
  extensible,
  flag,
  grantId,
  integer,
  jsonObject,
  list,
  mapOf,
  nullable,
  oneOf,
  optional,
  orgId,
  receiptId,
  record,
  sha256,
  text,
  timestamp,
  variants,
} from './read.ts';
import type {
  Agent,
  AgentDisabled,
  ApiKey,
  ApiKeyIssued,
  ApiKeyList,
  ApiKeyRevoked,
  Attestation,
  AuditAction,
  AuditEvent,
  AuditList,
  ConsumptionBalance,
  ConsumptionEvent,
  CredentialStatus,
  Decision,
  DecisionExportRow,
  DecisionList,
  DecisionStats,
  DecisionSummary,
  GrantAllocation,
  GrantConsumption,
  GrantList,
  GrantSummary,
  KeyCompromised,
  KeyRetired,
  KeyUsage,
  Me,
  OrgMember,
  Principal,
  PrincipalDirectory,
  PrincipalDirectoryEntry,
  PrincipalStats,
  ReasonCode,
  RelyingParty,
  RevokeResponse,
  Usage,
  UsageDay,
  Verification,
} from './wire.generated.ts';

export const readAgent: Reader<Agent> = record({ did: didKey, principal: didWeb, created_at: timestamp });

export const readAgentDisabled: Reader<AgentDisabled> = record({
  did: didKey,
  disabled_at: timestamp,
  revoked_grants: list(grantId),
});

export const readApiKeyIssued: Reader<ApiKeyIssued> = record({
  key_id: apiKeyId,
  role: oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  subject: either(didWeb, orgId),
  label: nullable(text),
  created_at: timestamp,
  revoked_at: nullable(timestamp),
  api_key: text,
});

export const readApiKey: Reader<ApiKey> = record({
  key_id: apiKeyId,
  role: oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  subject: either(didWeb, orgId),
  label: nullable(text),
  created_at: timestamp,
  revoked_at: nullable(timestamp),
});

export const readApiKeyList: Reader<ApiKeyList> = record({ subject: didWeb, keys: list(readApiKey) });

export const readApiKeyRevoked: Reader<ApiKeyRevoked> = record({
  key_id: apiKeyId,
  revoked: oneOf(true),
  revoked_at: timestamp,
});

export const readAttestation: Reader<Attestation> = record({
  attestation_id: text,
  type: oneOf(
    'fulfilled',
    'cancelled',
    'dispute_opened',
    'dispute_resolved',
    'chargeback_received',
    'chargeback_reversed',
    'loss_reported',
  ),
  occurred_at: timestamp,
  recorded_at: timestamp,
  reporter: didWeb,
  evidence_ref: optional(text),
  note: optional(text),
  correction_of: optional(text),
  reporter_signature: optional(text),
  resolution: optional(oneOf('agent_at_fault', 'agent_not_at_fault', 'indeterminate')),
  loss_amount: optional(integer),
  currency: optional(text),
  consumption: optional(record({ cause: oneOf('restore', 'restore_reversal'), version: integer })),
});

export const readAuditAction: Reader<AuditAction> = extensible();

export const readAuditEvent: Reader<AuditEvent> = record({
  event_id: text,
  occurred_at: timestamp,
  actor: record({
    kind: oneOf('admin', 'principal', 'rp', 'org', 'system'),
    did: nullable(either(didWeb, orgId)),
    key_id: nullable(apiKeyId),
  }),
  action: readAuditAction,
  target: nullable(text),
  request_id: nullable(text),
  details: jsonObject,
});

export const readAuditList: Reader<AuditList> = record({
  events: list(readAuditEvent),
  next_cursor: nullable(text),
});

export const readDecision: Reader<Decision> = record({
  receipt: jsonObject,
  outcomes: list(readAttestation),
});

export const readReasonCode: Reader<ReasonCode> = nullable(extensible());

export const readDecisionExportRow: Reader<DecisionExportRow> = record({
  receipt_id: receiptId,
  decision: oneOf('ALLOW', 'DENY'),
  reason: readReasonCode,
  evaluated_at: timestamp,
  principal: nullable(didWeb),
  grant_id: nullable(grantId),
  agent: nullable(didKey),
  rp: didWeb,
  key_id: nullable(apiKeyId),
  action_type: nullable(oneOf('commerce:purchase', 'api:call')),
  amount: nullable(integer),
  currency: nullable(text),
  resource: nullable(text),
  method: nullable(text),
  receipt: jsonObject,
  outcomes: list(readAttestation),
});

export const readDecisionSummary: Reader<DecisionSummary> = record({
  receipt_id: receiptId,
  decision: oneOf('ALLOW', 'DENY'),
  reason: readReasonCode,
  evaluated_at: timestamp,
  principal: nullable(didWeb),
  grant_id: nullable(grantId),
  agent: nullable(didKey),
  rp: didWeb,
  key_id: nullable(apiKeyId),
  action_type: nullable(oneOf('commerce:purchase', 'api:call')),
  amount: nullable(integer),
  currency: nullable(text),
  resource: nullable(text),
  method: nullable(text),
});

export const readDecisionList: Reader<DecisionList> = record({
  decisions: list(readDecisionSummary),
  next_cursor: nullable(text),
});

export const readPrincipalStats: Reader<PrincipalStats> = record({
  principal: nullable(didWeb),
  verifies: integer,
  allow: integer,
  deny: integer,
  reasons: mapOf(integer),
  outcomes: mapOf(integer),
  losses: mapOf(integer),
  allow_with_outcome: integer,
});

export const readDecisionStats: Reader<DecisionStats> = record({
  since: timestamp,
  until: timestamp,
  rps: optional(list(didWeb)),
  totals: record({ verifies: integer, allow: integer, deny: integer, allow_with_outcome: integer }),
  principals: list(readPrincipalStats),
});

export const readCredentialStatus: Reader<CredentialStatus> = closed(
  record({
    id: text,
    type: oneOf('BitstringStatusListEntry'),
    statusPurpose: oneOf('revocation'),
    statusListIndex: text,
    statusListCredential: text,
  }),
);

export const readGrantAllocation: Reader<GrantAllocation> = record({
  id: grantId,
  issuer: didWeb,
  agent: didKey,
  credentialStatus: readCredentialStatus,
  allocated_at: timestamp,
});

export const readConsumptionBalance: Reader<ConsumptionBalance> = record({
  key: sha256,
  spent_total: integer,
  spent_in_period: integer,
  period_start: nullable(timestamp),
  uses_spent: integer,
  limits: record({ total: nullable(integer), per_period: nullable(integer), uses: nullable(integer) }),
  remaining: record({ total: nullable(integer), per_period: nullable(integer), uses: nullable(integer) }),
  updated_at: timestamp,
});

export const readConsumptionEvent: Reader<ConsumptionEvent> = record({
  version: integer,
  key: sha256,
  delta_total: integer,
  delta_period: integer,
  delta_uses: integer,
  period_start: nullable(timestamp),
  cause: oneOf('consume', 'restore', 'restore_reversal'),
  cause_id: text,
  receipt_id: receiptId,
  recorded_at: timestamp,
});

export const readGrantConsumption: Reader<GrantConsumption> = record({
  grant_id: grantId,
  principal: didWeb,
  agent: didKey,
  version: integer,
  as_of: timestamp,
  snapshot_hash: sha256,
  capabilities: list(readConsumptionBalance),
  events: list(readConsumptionEvent),
  next_cursor: nullable(integer),
});

export const readGrantSummary: Reader<GrantSummary> = record({
  id: grantId,
  principal: didWeb,
  agent: didKey,
  status_list: text,
  status_list_index: integer,
  allocated_at: timestamp,
  revoked_at: nullable(timestamp),
  state: oneOf('active', 'revoked'),
});

export const readGrantList: Reader<GrantList> = record({
  grants: list(readGrantSummary),
  next_cursor: nullable(text),
});

export const readKeyCompromised: Reader<KeyCompromised> = record({ kid: text, state: oneOf('compromised') });

export const readKeyRetired: Reader<KeyRetired> = record({
  kid: text,
  state: oneOf('retired', 'compromised'),
});

export const readVerification: Reader<Verification> = record({
  state: oneOf('verified', 'unverified'),
  token: text,
  dns_txt: record({ name: text, value: text }),
  well_known: record({ url: text, body: jsonObject }),
  reverified_every_hours: oneOf(24),
  did_document_url: text,
});

export const readOrgMember: Reader<OrgMember> = variants('kind', {
  principal: record({
    did: didWeb,
    kind: oneOf('principal'),
    created_at: timestamp,
    principal_kind: oneOf('managed', 'hosted'),
    domain: text,
    verification_state: oneOf('verified', 'unverified'),
    verification: readVerification,
  }),
  relying_party: record({
    did: didWeb,
    kind: oneOf('relying_party'),
    created_at: timestamp,
    name: text,
    proof_window_seconds: integer,
    verify_rate_limit_per_minute: integer,
  }),
});

export const readMe: Reader<Me> = record({
  subject: either(didWeb, orgId),
  role: oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  key_id: apiKeyId,
  service_did: didWeb,
  env: oneOf('development', 'production'),
  key_label: optional(nullable(text)),
  key_created_at: optional(timestamp),
  name: optional(text),
  proof_window_seconds: optional(integer),
  kind: optional(oneOf('managed', 'hosted')),
  verification: optional(readVerification),
  keys: optional(list(record({ kid: text, state: oneOf('active', 'retired', 'compromised') }))),
  org_id: optional(nullable(orgId)),
  org: optional(record({ org_id: orgId, slug: text, name: text, created_at: timestamp })),
  members: optional(list(readOrgMember)),
  scope: optional(list(text)),
});

export const readPrincipal: Reader<Principal> = record({
  did: didWeb,
  kind: oneOf('managed', 'hosted'),
  domain: text,
  verification: readVerification,
  created_at: timestamp,
  org_id: optional(nullable(orgId)),
  may_be_named: optional(flag),
});

export const readPrincipalDirectoryEntry: Reader<PrincipalDirectoryEntry> = record({
  did: didWeb,
  kind: oneOf('managed', 'hosted'),
  domain: text,
  verification: record({
    state: oneOf('verified', 'unverified'),
    verified_since: nullable(timestamp),
    last_checked_at: nullable(timestamp),
    method: oneOf('domain', 'svc-hosted'),
  }),
  keys: list(record({ kid: text, state: oneOf('active', 'retired', 'compromised'), since: timestamp })),
  did_document: nullable(jsonObject),
  registered_at: timestamp,
  may_be_named: optional(flag),
});

export const readPrincipalDirectory: Reader<PrincipalDirectory> = record({
  principals: list(readPrincipalDirectoryEntry),
  next_cursor: nullable(didWeb),
});

export const readRelyingParty: Reader<RelyingParty> = record({
  did: didWeb,
  name: text,
  proof_window_seconds: integer,
  verify_rate_limit_per_minute: integer,
  created_at: timestamp,
  org_id: optional(nullable(orgId)),
  profile: optional(oneOf('svc-base-v1', 'svc-base-v2')),
});

export const readRevokeResponse: Reader<RevokeResponse> = record({
  grant_id: grantId,
  revoked: oneOf(true),
  revoked_at: timestamp,
});

export const readKeyUsage: Reader<KeyUsage> = record({ verifies: integer, allow: integer, deny: integer });

export const readUsageDay: Reader<UsageDay> = record({
  day: text,
  verifies: integer,
  allow: integer,
  deny: integer,
  reasons: mapOf(integer),
  keys: optional(mapOf(readKeyUsage)),
});

export const readUsage: Reader<Usage> = record({
  since: timestamp,
  until: timestamp,
  rp: optional(didWeb),
  principal: optional(didWeb),
  rps: optional(list(didWeb)),
  key_id: optional(apiKeyId),
  totals: record({ verifies: integer, allow: integer, deny: integer }),
  days: list(readUsageDay),
});
