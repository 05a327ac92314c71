/** Generated from the contract by `npm run --prefix packages/sdk-core generate`. Do not edit. */
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
  word,
} from './read.ts';
import type {
  AccessRequest,
  AccessRequestList,
  AccessRequestStatus,
  ActivityGroup,
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
  Capability,
  CapabilityCondition,
  CheckOutcome,
  Comparison,
  ConsumptionBalance,
  ConsumptionEvent,
  CredentialStatus,
  Decision,
  DecisionExportRow,
  DecisionList,
  DecisionStats,
  DecisionSummary,
  DeliveredEventType,
  DryRun,
  EventDelivery,
  EventDeliveryList,
  EventPing,
  EventSubscription,
  EventSubscriptionCreated,
  EventSubscriptionDeleted,
  EventSubscriptionList,
  EventSubscriptionRotated,
  EventType,
  FailedCheck,
  GrantAllocation,
  GrantConsumption,
  GrantList,
  GrantSummary,
  KeyCompromised,
  KeyRetired,
  KeyUsage,
  Me,
  OrgMember,
  Pause,
  PauseList,
  PauseScope,
  Principal,
  PrincipalActivity,
  PrincipalDirectory,
  PrincipalDirectoryEntry,
  PrincipalStats,
  ReasonCode,
  RelyingParty,
  Resumed,
  RevokeResponse,
  Usage,
  UsageDay,
  Verification,
} from './wire.generated.ts';

export const readAccessRequestStatus: Reader<AccessRequestStatus> = /* @__PURE__ */ oneOf(
  'pending',
  'approved',
  'denied',
  'expired',
  'cancelled',
);

export const readAccessRequest: Reader<AccessRequest> = /* @__PURE__ */ record({
  task: /* @__PURE__ */ record({
    id: text,
    status: readAccessRequestStatus,
    status_endpoint: text,
    expires_at: timestamp,
    links: /* @__PURE__ */ record({ cancel: text }),
  }),
  relying_party: didWeb,
  principal: didWeb,
  grant_id: grantId,
  agent: didKey,
  action: /* @__PURE__ */ variants('type', {
    'commerce:purchase': /* @__PURE__ */ record({
      type: /* @__PURE__ */ oneOf('commerce:purchase'),
      resource: text,
      amount: integer,
      currency: text,
    }),
    'api:call': /* @__PURE__ */ record({
      type: /* @__PURE__ */ oneOf('api:call'),
      method: text,
      resource: text,
    }),
  }),
  capability: /* @__PURE__ */ record({
    action: /* @__PURE__ */ oneOf('commerce:purchase', 'api:call'),
    constraints: jsonObject,
    resources: /* @__PURE__ */ optional(/* @__PURE__ */ list(text)),
  }),
  receipt_id: /* @__PURE__ */ nullable(receiptId),
  proof: /* @__PURE__ */ nullable(text),
  requested_at: timestamp,
  decided_at: /* @__PURE__ */ nullable(timestamp),
  reason: /* @__PURE__ */ nullable(text),
  result: /* @__PURE__ */ nullable(
    /* @__PURE__ */ record({
      mode: /* @__PURE__ */ oneOf('urn:svc:access-request:mode:grant'),
      grant_id: grantId,
      grant: /* @__PURE__ */ nullable(text),
      approved_until: timestamp,
    }),
  ),
});

export const readAccessRequestList: Reader<AccessRequestList> = /* @__PURE__ */ record({
  requests: /* @__PURE__ */ list(readAccessRequest),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readAgent: Reader<Agent> = /* @__PURE__ */ record({
  did: didKey,
  principal: didWeb,
  created_at: timestamp,
});

export const readAgentDisabled: Reader<AgentDisabled> = /* @__PURE__ */ record({
  did: didKey,
  disabled_at: timestamp,
  revoked_grants: /* @__PURE__ */ list(grantId),
});

export const readApiKeyIssued: Reader<ApiKeyIssued> = /* @__PURE__ */ record({
  key_id: apiKeyId,
  role: /* @__PURE__ */ oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  subject: /* @__PURE__ */ either(didWeb, orgId),
  label: /* @__PURE__ */ nullable(text),
  created_at: timestamp,
  revoked_at: /* @__PURE__ */ nullable(timestamp),
  api_key: text,
});

export const readApiKey: Reader<ApiKey> = /* @__PURE__ */ record({
  key_id: apiKeyId,
  role: /* @__PURE__ */ oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  subject: /* @__PURE__ */ either(didWeb, orgId),
  label: /* @__PURE__ */ nullable(text),
  created_at: timestamp,
  revoked_at: /* @__PURE__ */ nullable(timestamp),
});

export const readApiKeyList: Reader<ApiKeyList> = /* @__PURE__ */ record({
  subject: didWeb,
  keys: /* @__PURE__ */ list(readApiKey),
});

export const readApiKeyRevoked: Reader<ApiKeyRevoked> = /* @__PURE__ */ record({
  key_id: apiKeyId,
  revoked: /* @__PURE__ */ oneOf(true),
  revoked_at: timestamp,
});

export const readAttestation: Reader<Attestation> = /* @__PURE__ */ record({
  attestation_id: text,
  type: /* @__PURE__ */ oneOf(
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
  evidence_ref: /* @__PURE__ */ optional(text),
  note: /* @__PURE__ */ optional(text),
  correction_of: /* @__PURE__ */ optional(text),
  reporter_signature: /* @__PURE__ */ optional(text),
  resolution: /* @__PURE__ */ optional(
    /* @__PURE__ */ oneOf('agent_at_fault', 'agent_not_at_fault', 'indeterminate'),
  ),
  loss_amount: /* @__PURE__ */ optional(integer),
  currency: /* @__PURE__ */ optional(text),
  consumption: /* @__PURE__ */ optional(
    /* @__PURE__ */ record({ cause: /* @__PURE__ */ oneOf('restore', 'restore_reversal'), version: integer }),
  ),
});

export const readAuditAction: Reader<AuditAction> = /* @__PURE__ */ extensible();

export const readAuditEvent: Reader<AuditEvent> = /* @__PURE__ */ record({
  event_id: text,
  occurred_at: timestamp,
  actor: /* @__PURE__ */ record({
    kind: /* @__PURE__ */ oneOf('admin', 'principal', 'rp', 'org', 'system'),
    did: /* @__PURE__ */ nullable(/* @__PURE__ */ either(didWeb, orgId)),
    key_id: /* @__PURE__ */ nullable(apiKeyId),
  }),
  action: readAuditAction,
  target: /* @__PURE__ */ nullable(text),
  request_id: /* @__PURE__ */ nullable(text),
  details: jsonObject,
});

export const readAuditList: Reader<AuditList> = /* @__PURE__ */ record({
  events: /* @__PURE__ */ list(readAuditEvent),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readDecision: Reader<Decision> = /* @__PURE__ */ record({
  receipt: jsonObject,
  outcomes: /* @__PURE__ */ list(readAttestation),
});

export const readReasonCode: Reader<ReasonCode> = /* @__PURE__ */ nullable(/* @__PURE__ */ extensible());

export const readDecisionExportRow: Reader<DecisionExportRow> = /* @__PURE__ */ record({
  receipt_id: receiptId,
  decision: /* @__PURE__ */ oneOf('ALLOW', 'DENY'),
  reason: readReasonCode,
  evaluated_at: timestamp,
  principal: /* @__PURE__ */ nullable(didWeb),
  grant_id: /* @__PURE__ */ nullable(grantId),
  agent: /* @__PURE__ */ nullable(didKey),
  rp: didWeb,
  key_id: /* @__PURE__ */ nullable(apiKeyId),
  action_type: /* @__PURE__ */ nullable(/* @__PURE__ */ oneOf('commerce:purchase', 'api:call')),
  amount: /* @__PURE__ */ nullable(integer),
  currency: /* @__PURE__ */ nullable(text),
  resource: /* @__PURE__ */ nullable(text),
  method: /* @__PURE__ */ nullable(text),
  receipt: jsonObject,
  outcomes: /* @__PURE__ */ list(readAttestation),
});

export const readDecisionSummary: Reader<DecisionSummary> = /* @__PURE__ */ record({
  receipt_id: receiptId,
  decision: /* @__PURE__ */ oneOf('ALLOW', 'DENY'),
  reason: readReasonCode,
  evaluated_at: timestamp,
  principal: /* @__PURE__ */ nullable(didWeb),
  grant_id: /* @__PURE__ */ nullable(grantId),
  agent: /* @__PURE__ */ nullable(didKey),
  rp: didWeb,
  key_id: /* @__PURE__ */ nullable(apiKeyId),
  action_type: /* @__PURE__ */ nullable(/* @__PURE__ */ oneOf('commerce:purchase', 'api:call')),
  amount: /* @__PURE__ */ nullable(integer),
  currency: /* @__PURE__ */ nullable(text),
  resource: /* @__PURE__ */ nullable(text),
  method: /* @__PURE__ */ nullable(text),
});

export const readDecisionList: Reader<DecisionList> = /* @__PURE__ */ record({
  decisions: /* @__PURE__ */ list(readDecisionSummary),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readPrincipalStats: Reader<PrincipalStats> = /* @__PURE__ */ record({
  principal: /* @__PURE__ */ nullable(didWeb),
  verifies: integer,
  allow: integer,
  deny: integer,
  reasons: /* @__PURE__ */ mapOf(integer),
  outcomes: /* @__PURE__ */ mapOf(integer),
  losses: /* @__PURE__ */ mapOf(integer),
  allow_with_outcome: integer,
});

export const readDecisionStats: Reader<DecisionStats> = /* @__PURE__ */ record({
  since: timestamp,
  until: timestamp,
  rps: /* @__PURE__ */ optional(/* @__PURE__ */ list(didWeb)),
  totals: /* @__PURE__ */ record({
    verifies: integer,
    allow: integer,
    deny: integer,
    allow_with_outcome: integer,
  }),
  principals: /* @__PURE__ */ list(readPrincipalStats),
});

export const readCheckOutcome: Reader<CheckOutcome> = /* @__PURE__ */ either(
  flag,
  /* @__PURE__ */ word('skipped'),
);

export const readComparison: Reader<Comparison> = /* @__PURE__ */ record({
  what: text,
  found: text,
  expected: text,
});

export const readFailedCheck: Reader<FailedCheck> = /* @__PURE__ */ record({
  check: /* @__PURE__ */ oneOf(
    'P1',
    'T1',
    'T2',
    'T3',
    'P2',
    'P3',
    'P4',
    'P5',
    'P6',
    'P7',
    'P8',
    'P9',
    'P10',
    'P11',
    'P12',
    'P13',
    'P15',
    'P14',
    'P16',
    'P17',
    'P18',
    'P19',
    'P20',
    'T5',
  ),
  title: text,
  reason: readReasonCode,
  compared: /* @__PURE__ */ list(readComparison),
  remedy: text,
});

export const readCapability: Reader<Capability> = /* @__PURE__ */ record({
  action: /* @__PURE__ */ oneOf('commerce:purchase', 'api:call'),
  constraints: jsonObject,
  resources: /* @__PURE__ */ optional(/* @__PURE__ */ list(text)),
});

export const readCapabilityCondition: Reader<CapabilityCondition> = /* @__PURE__ */ record({
  check: /* @__PURE__ */ oneOf('P16', 'P17', 'P18', 'P19', 'P20'),
  holds: flag,
  compared: /* @__PURE__ */ list(readComparison),
});

export const readDryRun: Reader<DryRun> = /* @__PURE__ */ record({
  dry_run: /* @__PURE__ */ oneOf('nothing was decided'),
  would: /* @__PURE__ */ oneOf('allow', 'deny'),
  reason: readReasonCode,
  remedy: /* @__PURE__ */ nullable(text),
  evaluated_at: timestamp,
  relying_party: didWeb,
  principal: /* @__PURE__ */ nullable(didWeb),
  grant_id: /* @__PURE__ */ nullable(grantId),
  agent: /* @__PURE__ */ nullable(didKey),
  checks: /* @__PURE__ */ record({
    P1: readCheckOutcome,
    P2: readCheckOutcome,
    P3: readCheckOutcome,
    P4: readCheckOutcome,
    P5: readCheckOutcome,
    P6: readCheckOutcome,
    P7: readCheckOutcome,
    P8: readCheckOutcome,
    P9: readCheckOutcome,
    P10: readCheckOutcome,
    P11: readCheckOutcome,
    P12: readCheckOutcome,
    P13: readCheckOutcome,
    P14: readCheckOutcome,
    P15: readCheckOutcome,
    P16: readCheckOutcome,
    P17: readCheckOutcome,
    P18: readCheckOutcome,
    P19: readCheckOutcome,
    P20: readCheckOutcome,
    T1: readCheckOutcome,
    T2: readCheckOutcome,
    T3: readCheckOutcome,
    T5: readCheckOutcome,
  }),
  failed: /* @__PURE__ */ list(readFailedCheck),
  closest_capability: /* @__PURE__ */ nullable(
    /* @__PURE__ */ record({
      index: integer,
      capability: readCapability,
      conditions: /* @__PURE__ */ list(readCapabilityCondition),
    }),
  ),
});

export const readDeliveredEventType: Reader<DeliveredEventType> = /* @__PURE__ */ extensible();

export const readEventDelivery: Reader<EventDelivery> = /* @__PURE__ */ record({
  event_id: text,
  type: readDeliveredEventType,
  state: /* @__PURE__ */ oneOf('waiting', 'delivered', 'failed'),
  attempts: integer,
  last_attempt_at: /* @__PURE__ */ nullable(timestamp),
  last_status: /* @__PURE__ */ nullable(integer),
  last_problem: /* @__PURE__ */ nullable(text),
  next_attempt_at: /* @__PURE__ */ nullable(timestamp),
});

export const readEventDeliveryList: Reader<EventDeliveryList> = /* @__PURE__ */ record({
  deliveries: /* @__PURE__ */ list(readEventDelivery),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readEventPing: Reader<EventPing> = /* @__PURE__ */ record({
  subscription_id: text,
  event_id: text,
});

export const readEventType: Reader<EventType> = /* @__PURE__ */ extensible();

export const readEventSubscription: Reader<EventSubscription> = /* @__PURE__ */ record({
  subscription_id: text,
  url: text,
  description: /* @__PURE__ */ nullable(text),
  types: /* @__PURE__ */ list(readEventType),
  budget_low_percent: integer,
  created_at: timestamp,
  created_by: /* @__PURE__ */ nullable(apiKeyId),
  state: /* @__PURE__ */ oneOf('active', 'failing', 'disabled'),
  failing_since: /* @__PURE__ */ nullable(timestamp),
  last_problem: /* @__PURE__ */ nullable(text),
  disabled_at: /* @__PURE__ */ nullable(timestamp),
  disabled_because: /* @__PURE__ */ nullable(/* @__PURE__ */ oneOf('owner', 'failing', 'gone')),
  waiting: integer,
  secrets: /* @__PURE__ */ list(
    /* @__PURE__ */ record({ number: integer, ends_at: /* @__PURE__ */ nullable(timestamp) }),
  ),
});

export const readEventSubscriptionCreated: Reader<EventSubscriptionCreated> = /* @__PURE__ */ record({
  subscription_id: text,
  url: text,
  description: /* @__PURE__ */ nullable(text),
  types: /* @__PURE__ */ list(readEventType),
  budget_low_percent: integer,
  created_at: timestamp,
  created_by: /* @__PURE__ */ nullable(apiKeyId),
  state: /* @__PURE__ */ oneOf('active', 'failing', 'disabled'),
  failing_since: /* @__PURE__ */ nullable(timestamp),
  last_problem: /* @__PURE__ */ nullable(text),
  disabled_at: /* @__PURE__ */ nullable(timestamp),
  disabled_because: /* @__PURE__ */ nullable(/* @__PURE__ */ oneOf('owner', 'failing', 'gone')),
  waiting: integer,
  secrets: /* @__PURE__ */ list(
    /* @__PURE__ */ record({ number: integer, ends_at: /* @__PURE__ */ nullable(timestamp) }),
  ),
  secret: text,
});

export const readEventSubscriptionDeleted: Reader<EventSubscriptionDeleted> = /* @__PURE__ */ record({
  subscription_id: text,
  deleted: /* @__PURE__ */ oneOf(true),
});

export const readEventSubscriptionList: Reader<EventSubscriptionList> = /* @__PURE__ */ record({
  subscriptions: /* @__PURE__ */ list(readEventSubscription),
});

export const readEventSubscriptionRotated: Reader<EventSubscriptionRotated> = /* @__PURE__ */ record({
  subscription_id: text,
  secret: text,
  previous_ends_at: timestamp,
});

export const readCredentialStatus: Reader<CredentialStatus> = /* @__PURE__ */ closed(
  /* @__PURE__ */ record({
    id: text,
    type: /* @__PURE__ */ oneOf('BitstringStatusListEntry'),
    statusPurpose: /* @__PURE__ */ oneOf('revocation'),
    statusListIndex: text,
    statusListCredential: text,
  }),
);

export const readGrantAllocation: Reader<GrantAllocation> = /* @__PURE__ */ record({
  id: grantId,
  issuer: didWeb,
  agent: didKey,
  credentialStatus: readCredentialStatus,
  allocated_at: timestamp,
});

export const readConsumptionBalance: Reader<ConsumptionBalance> = /* @__PURE__ */ record({
  key: sha256,
  spent_total: integer,
  spent_in_period: integer,
  period_start: /* @__PURE__ */ nullable(timestamp),
  uses_spent: integer,
  limits: /* @__PURE__ */ record({
    total: /* @__PURE__ */ nullable(integer),
    per_period: /* @__PURE__ */ nullable(integer),
    uses: /* @__PURE__ */ nullable(integer),
  }),
  remaining: /* @__PURE__ */ record({
    total: /* @__PURE__ */ nullable(integer),
    per_period: /* @__PURE__ */ nullable(integer),
    uses: /* @__PURE__ */ nullable(integer),
  }),
  updated_at: timestamp,
});

export const readConsumptionEvent: Reader<ConsumptionEvent> = /* @__PURE__ */ record({
  version: integer,
  key: sha256,
  delta_total: integer,
  delta_period: integer,
  delta_uses: integer,
  period_start: /* @__PURE__ */ nullable(timestamp),
  cause: /* @__PURE__ */ oneOf('consume', 'restore', 'restore_reversal'),
  cause_id: text,
  receipt_id: receiptId,
  recorded_at: timestamp,
});

export const readGrantConsumption: Reader<GrantConsumption> = /* @__PURE__ */ record({
  grant_id: grantId,
  principal: didWeb,
  agent: didKey,
  version: integer,
  as_of: timestamp,
  snapshot_hash: sha256,
  capabilities: /* @__PURE__ */ list(readConsumptionBalance),
  events: /* @__PURE__ */ list(readConsumptionEvent),
  next_cursor: /* @__PURE__ */ nullable(integer),
});

export const readGrantSummary: Reader<GrantSummary> = /* @__PURE__ */ record({
  id: grantId,
  principal: didWeb,
  agent: didKey,
  status_list: text,
  status_list_index: integer,
  allocated_at: timestamp,
  revoked_at: /* @__PURE__ */ nullable(timestamp),
  state: /* @__PURE__ */ oneOf('active', 'revoked'),
});

export const readGrantList: Reader<GrantList> = /* @__PURE__ */ record({
  grants: /* @__PURE__ */ list(readGrantSummary),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readKeyCompromised: Reader<KeyCompromised> = /* @__PURE__ */ record({
  kid: text,
  state: /* @__PURE__ */ oneOf('compromised'),
});

export const readKeyRetired: Reader<KeyRetired> = /* @__PURE__ */ record({
  kid: text,
  state: /* @__PURE__ */ oneOf('retired', 'compromised'),
});

export const readPauseScope: Reader<PauseScope> = /* @__PURE__ */ oneOf(
  'grant',
  'agent',
  'principal',
  'relying_party',
  'org',
  'service',
);

export const readPause: Reader<Pause> = /* @__PURE__ */ record({
  scope: readPauseScope,
  subject: text,
  principal: /* @__PURE__ */ nullable(didWeb),
  reason: /* @__PURE__ */ nullable(text),
  paused_by: /* @__PURE__ */ record({
    kind: /* @__PURE__ */ oneOf('admin', 'principal', 'rp', 'org', 'system'),
    did: /* @__PURE__ */ nullable(/* @__PURE__ */ either(didWeb, orgId)),
    key_id: /* @__PURE__ */ nullable(apiKeyId),
  }),
  paused_at: /* @__PURE__ */ nullable(timestamp),
});

export const readPauseList: Reader<PauseList> = /* @__PURE__ */ record({
  pauses: /* @__PURE__ */ list(readPause),
  next_cursor: /* @__PURE__ */ nullable(text),
});

export const readResumed: Reader<Resumed> = /* @__PURE__ */ record({
  scope: readPauseScope,
  subject: text,
  paused: /* @__PURE__ */ oneOf(false),
  resumed_at: timestamp,
});

export const readVerification: Reader<Verification> = /* @__PURE__ */ record({
  state: /* @__PURE__ */ oneOf('verified', 'unverified'),
  token: text,
  dns_txt: /* @__PURE__ */ record({ name: text, value: text }),
  well_known: /* @__PURE__ */ record({ url: text, body: jsonObject }),
  reverified_every_hours: /* @__PURE__ */ oneOf(24),
  did_document_url: text,
});

export const readOrgMember: Reader<OrgMember> = /* @__PURE__ */ variants('kind', {
  principal: /* @__PURE__ */ record({
    did: didWeb,
    kind: /* @__PURE__ */ oneOf('principal'),
    created_at: timestamp,
    principal_kind: /* @__PURE__ */ oneOf('managed', 'hosted'),
    domain: text,
    verification_state: /* @__PURE__ */ oneOf('verified', 'unverified'),
    verification: readVerification,
  }),
  relying_party: /* @__PURE__ */ record({
    did: didWeb,
    kind: /* @__PURE__ */ oneOf('relying_party'),
    created_at: timestamp,
    name: text,
    proof_window_seconds: integer,
    verify_rate_limit_per_minute: integer,
  }),
});

export const readMe: Reader<Me> = /* @__PURE__ */ record({
  subject: /* @__PURE__ */ either(didWeb, orgId),
  role: /* @__PURE__ */ oneOf('principal', 'rp', 'org:read', 'org:admin', 'observer'),
  key_id: apiKeyId,
  service_did: didWeb,
  env: /* @__PURE__ */ oneOf('development', 'production'),
  key_label: /* @__PURE__ */ optional(/* @__PURE__ */ nullable(text)),
  key_created_at: /* @__PURE__ */ optional(timestamp),
  name: /* @__PURE__ */ optional(text),
  proof_window_seconds: /* @__PURE__ */ optional(integer),
  kind: /* @__PURE__ */ optional(/* @__PURE__ */ oneOf('managed', 'hosted')),
  verification: /* @__PURE__ */ optional(readVerification),
  keys: /* @__PURE__ */ optional(
    /* @__PURE__ */ list(
      /* @__PURE__ */ record({ kid: text, state: /* @__PURE__ */ oneOf('active', 'retired', 'compromised') }),
    ),
  ),
  org_id: /* @__PURE__ */ optional(/* @__PURE__ */ nullable(orgId)),
  org: /* @__PURE__ */ optional(
    /* @__PURE__ */ record({ org_id: orgId, slug: text, name: text, created_at: timestamp }),
  ),
  members: /* @__PURE__ */ optional(/* @__PURE__ */ list(readOrgMember)),
  scope: /* @__PURE__ */ optional(/* @__PURE__ */ list(text)),
});

export const readPrincipal: Reader<Principal> = /* @__PURE__ */ record({
  did: didWeb,
  kind: /* @__PURE__ */ oneOf('managed', 'hosted'),
  domain: text,
  verification: readVerification,
  created_at: timestamp,
  org_id: /* @__PURE__ */ optional(/* @__PURE__ */ nullable(orgId)),
  may_be_named: /* @__PURE__ */ optional(flag),
});

export const readActivityGroup: Reader<ActivityGroup> = /* @__PURE__ */ record({
  subject: /* @__PURE__ */ nullable(text),
  agent: /* @__PURE__ */ nullable(didKey),
  verifies: integer,
  allow: integer,
  deny: integer,
  reasons: /* @__PURE__ */ mapOf(integer),
  allowed_amounts: /* @__PURE__ */ mapOf(integer),
  first_at: timestamp,
  last_at: timestamp,
});

export const readPrincipalActivity: Reader<PrincipalActivity> = /* @__PURE__ */ record({
  since: timestamp,
  until: timestamp,
  by: /* @__PURE__ */ oneOf('agent', 'grant', 'rp'),
  counted: integer,
  complete: flag,
  groups_total: integer,
  groups: /* @__PURE__ */ list(readActivityGroup),
});

export const readPrincipalDirectoryEntry: Reader<PrincipalDirectoryEntry> = /* @__PURE__ */ record({
  did: didWeb,
  kind: /* @__PURE__ */ oneOf('managed', 'hosted'),
  domain: text,
  verification: /* @__PURE__ */ record({
    state: /* @__PURE__ */ oneOf('verified', 'unverified'),
    verified_since: /* @__PURE__ */ nullable(timestamp),
    last_checked_at: /* @__PURE__ */ nullable(timestamp),
    method: /* @__PURE__ */ oneOf('domain', 'svc-hosted'),
  }),
  keys: /* @__PURE__ */ list(
    /* @__PURE__ */ record({
      kid: text,
      state: /* @__PURE__ */ oneOf('active', 'retired', 'compromised'),
      since: timestamp,
    }),
  ),
  did_document: /* @__PURE__ */ nullable(jsonObject),
  registered_at: timestamp,
  may_be_named: /* @__PURE__ */ optional(flag),
});

export const readPrincipalDirectory: Reader<PrincipalDirectory> = /* @__PURE__ */ record({
  principals: /* @__PURE__ */ list(readPrincipalDirectoryEntry),
  next_cursor: /* @__PURE__ */ nullable(didWeb),
});

export const readRelyingParty: Reader<RelyingParty> = /* @__PURE__ */ record({
  did: didWeb,
  name: text,
  proof_window_seconds: integer,
  verify_rate_limit_per_minute: integer,
  created_at: timestamp,
  org_id: /* @__PURE__ */ optional(/* @__PURE__ */ nullable(orgId)),
  profile: /* @__PURE__ */ optional(/* @__PURE__ */ oneOf('svc-base-v1', 'svc-base-v2')),
});

export const readRevokeResponse: Reader<RevokeResponse> = /* @__PURE__ */ record({
  grant_id: grantId,
  revoked: /* @__PURE__ */ oneOf(true),
  revoked_at: timestamp,
});

export const readKeyUsage: Reader<KeyUsage> = /* @__PURE__ */ record({
  verifies: integer,
  allow: integer,
  deny: integer,
});

export const readUsageDay: Reader<UsageDay> = /* @__PURE__ */ record({
  day: text,
  verifies: integer,
  allow: integer,
  deny: integer,
  reasons: /* @__PURE__ */ mapOf(integer),
  keys: /* @__PURE__ */ optional(/* @__PURE__ */ mapOf(readKeyUsage)),
});

export const readUsage: Reader<Usage> = /* @__PURE__ */ record({
  since: timestamp,
  until: timestamp,
  rp: /* @__PURE__ */ optional(didWeb),
  principal: /* @__PURE__ */ optional(didWeb),
  rps: /* @__PURE__ */ optional(/* @__PURE__ */ list(didWeb)),
  key_id: /* @__PURE__ */ optional(apiKeyId),
  totals: /* @__PURE__ */ record({ verifies: integer, allow: integer, deny: integer }),
  days: /* @__PURE__ */ list(readUsageDay),
});
