/** Generated from the contract by `npm run --prefix packages/sdk-core generate`. Do not edit. */
import type { ApiKeyId, DidKey, DidWeb, GrantId, JsonObject, OrgId, ReceiptId, Sha256 } from '@svc/protocol';

/** A request to allow one denied Action once, and its state. */
export interface AccessRequest {
  task: {
    id: string;
    status: AccessRequestStatus;
    /** Where the relying party reads the request. */
    status_endpoint: string;
    /** The time until which the Principal can answer. */
    expires_at: string;
    links: {
      cancel: string;
    };
  };
  relying_party: DidWeb;
  principal: DidWeb;
  /** The Grant under which the Action was denied. */
  grant_id: GrantId;
  agent: DidKey;
  /** The Action that was denied. */
  action:
    | {
        type: 'commerce:purchase';
        resource: string;
        amount: number;
        currency: string;
      }
    | {
        type: 'api:call';
        method: string;
        resource: string;
      };
  /** What the Principal would sign: only this Action, once. */
  capability: {
    action: 'commerce:purchase' | 'api:call';
    constraints: JsonObject;
    resources?: string[];
  };
  /** The denial that the request is about. `receipt_id` and `proof` are null in a request that was recorded by a version that did not keep them; do not approve such a request. */
  receipt_id: ReceiptId | null;
  /** What the Agent signed for that Action. Its SHA-256 is the `proof_hash` of the Receipt. */
  proof: string | null;
  requested_at: string;
  decided_at: string | null;
  /** The reason of the Principal, if it rejected the request. */
  reason: string | null;
  /** The result of an approved request; null otherwise. */
  result: {
    mode: 'urn:svc:access-request:mode:grant';
    grant_id: GrantId;
    /** Pass it to the Agent, which signs a new Proof under it. Null: the Grant has expired. */
    grant: string | null;
    approved_until: string;
  } | null;
}

/** One page of requests, newest first. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface AccessRequestList {
  requests: AccessRequest[];
  next_cursor: string | null;
}

/** `denied`: the Principal rejected it. `cancelled`: the relying party cancelled it. Only `pending` can change. */
export type AccessRequestStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** The decisions of one group. */
export interface ActivityGroup {
  /** An Agent’s DID, a Grant id, or a relying party’s DID, as asked for. */
  subject: string | null;
  /** With `by=grant`: the Agent that the Grant names. Otherwise null. */
  agent: DidKey | null;
  verifies: number;
  allow: number;
  deny: number;
  /** ReasonCode → number of DENYs. */
  reasons: Record<string, number>;
  /** Currency → sum of the amounts that were allowed, in minor units. */
  allowed_amounts: Record<string, number>;
  /** The time of the first counted decision. */
  first_at: string;
  last_at: string;
}

/** An Agent in a Principal’s inventory. No verification uses the inventory. */
export interface Agent {
  did: DidKey;
  principal: DidWeb;
  created_at: string;
}

export interface AgentDisabled {
  did: DidKey;
  /** No ALLOW under these Grants is dated later than this. */
  disabled_at: string;
  /** Every Grant of the Principal that names the Agent, in ascending order; all of them are revoked. */
  revoked_grants: GrantId[];
}

/** An API key without its value. Times are RFC 3339 UTC with milliseconds, here and in every record. */
export interface ApiKey {
  /** The public id of an API key; not a secret. */
  key_id: ApiKeyId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** The Principal or relying party; for an org key the org; for an observer key the service itself. */
  subject: DidWeb | OrgId;
  label: string | null;
  created_at: string;
  revoked_at: string | null;
}

/** A new API key, with its value. */
export interface ApiKeyIssued {
  /** The public id of an API key; not a secret. */
  key_id: ApiKeyId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** The Principal or relying party; for an org key the org; for an observer key the service itself. */
  subject: DidWeb | OrgId;
  label: string | null;
  created_at: string;
  revoked_at: string | null;
  /** The secret itself. It is shown only in this answer. */
  api_key: string;
}

/** API keys of one Principal or relying party, newest first: every live key, and the 900 that were revoked last. */
export interface ApiKeyList {
  subject: DidWeb;
  keys: ApiKey[];
}

export interface ApiKeyRevoked {
  /** The public id of an API key; not a secret. */
  key_id: ApiKeyId;
  revoked: true;
  revoked_at: string;
}

/** What the relying party reported about a decision later. */
export interface Attestation {
  attestation_id: string;
  type:
    | 'fulfilled'
    | 'cancelled'
    | 'dispute_opened'
    | 'dispute_resolved'
    | 'chargeback_received'
    | 'chargeback_reversed'
    | 'loss_reported';
  /** As the relying party reported it. */
  occurred_at: string;
  recorded_at: string;
  reporter: DidWeb;
  evidence_ref?: string;
  note?: string;
  correction_of?: string;
  reporter_signature?: string;
  resolution?: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
  loss_amount?: number;
  currency?: string;
  consumption?: {
    cause: 'restore' | 'restore_reversal';
    version: number;
  };
}

export type AuditAction =
  | 'principal.create'
  | 'principal.verify'
  | 'relying_party.create'
  | 'api_key.create'
  | 'api_key.revoke'
  | 'agent.register'
  | 'agent.disable'
  | 'grant.allocate'
  | 'grant.revoke'
  | 'key.compromise'
  | 'sandbox.create'
  | 'key.retire'
  | 'relying_party.update'
  | 'outcome.report'
  | 'pause.set'
  | 'pause.lift'
  | 'approval.request'
  | 'approval.approve'
  | 'approval.reject'
  | 'approval.cancel'
  | 'clock.repair'
  | 'restore.release'
  | 'service_did.change'
  | 'subscription.create'
  | 'subscription.rotate'
  | 'subscription.disable'
  | 'subscription.enable'
  | 'subscription.delete'
  | 'stream.create'
  | 'stream.update'
  | 'stream.status'
  | 'stream.delete';

/** What a caller did with an API key, or what the service did by itself. Audit events never change. */
export interface AuditEvent {
  event_id: string;
  occurred_at: string;
  actor: {
    kind: 'admin' | 'principal' | 'rp' | 'org' | 'system';
    /** DID of the subject, or org id. */
    did: DidWeb | OrgId | null;
    /** The public id of an API key; not a secret. */
    key_id: ApiKeyId | null;
  };
  action: AuditAction;
  /** The target of the event: a DID, or the id of a Grant or key. */
  target: string | null;
  /** `Svc-Request-Id` of the call. */
  request_id: string | null;
  details: JsonObject;
}

/** One page of the audit log, newest first. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface AuditList {
  events: AuditEvent[];
  next_cursor: string | null;
}

/** One thing a Grant allows. */
export interface Capability {
  action: 'commerce:purchase' | 'api:call';
  constraints: JsonObject;
  resources?: string[];
}

/** The condition that one check sets for a Capability. */
export interface CapabilityCondition {
  check: 'P16' | 'P17' | 'P18' | 'P19' | 'P20';
  holds: boolean;
  compared: Comparison[];
}

/** `true` passed, `false` failed, `skipped`: a prerequisite did not pass. */
export type CheckOutcome = boolean | 'skipped';

export interface Comparison {
  /** The compared value: a member of Grant, Proof or Action, or another fact. */
  what: string;
  /** The value that was found. */
  found: string;
  /** The value that it was compared with, or a description of it. */
  expected: string;
}

/** What has been used of one budget. Amounts are in minor units. */
export interface ConsumptionBalance {
  /** SHA-256 over the JCS form of the Capability: two equal Capabilities share one budget. */
  key: Sha256;
  spent_total: number;
  /** In the window that began at `period_start`. */
  spent_in_period: number;
  /** The first instant of the UTC calendar window; null if the budget has no period. */
  period_start: string | null;
  uses_spent: number;
  /** The limits at the last consumption; null: not limited. */
  limits: {
    total: number | null;
    per_period: number | null;
    uses: number | null;
  };
  /** What is left in the window of `period_start`, even if that window has passed. */
  remaining: {
    total: number | null;
    per_period: number | null;
    uses: number | null;
  };
  updated_at: string;
}

/** One movement of a budget. Entries of the log never change. */
export interface ConsumptionEvent {
  /** The number of this event of the Grant, from 1 without a gap. */
  version: number;
  /** SHA-256 over the JCS form of the Capability: two equal Capabilities share one budget. */
  key: Sha256;
  /** In minor units; negative for a restore. */
  delta_total: number;
  delta_period: number;
  delta_uses: number;
  /** The first instant of the UTC calendar window; null if the budget has no period. */
  period_start: string | null;
  cause: 'consume' | 'restore' | 'restore_reversal';
  /** The Receipt of a consumption; the attestation of a restore and of its reversal. */
  cause_id: string;
  /** The Receipt of the consumption. */
  receipt_id: ReceiptId;
  recorded_at: string;
}

/** Put it into the Grant as `credentialStatus`, unchanged. */
export interface CredentialStatus {
  id: string;
  type: 'BitstringStatusListEntry';
  statusPurpose: 'revocation';
  statusListIndex: string;
  statusListCredential: string;
}

/** A decision: its Receipt as stored, and what was reported about it later. */
export interface Decision {
  receipt: JsonObject;
  outcomes: Attestation[];
}

/** One line of the export: the summary, the Receipt and its outcomes. */
export interface DecisionExportRow {
  receipt_id: ReceiptId;
  decision: 'ALLOW' | 'DENY';
  reason: ReasonCode;
  evaluated_at: string;
  /** Null: the verification authenticated no Grant. */
  principal: DidWeb | null;
  grant_id: GrantId | null;
  agent: DidKey | null;
  rp: DidWeb;
  /** The RP key that requested the verification; null for decisions from before keys were recorded. */
  key_id: ApiKeyId | null;
  /** This and the following members are null for a malformed action and after seven years. */
  action_type: 'commerce:purchase' | 'api:call' | null;
  /** The amount of a purchase, in minor units. */
  amount: number | null;
  currency: string | null;
  /** As submitted. */
  resource: string | null;
  /** The method of an `api:call`. */
  method: string | null;
  receipt: JsonObject;
  outcomes: Attestation[];
}

/** One page of decisions, newest first. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface DecisionList {
  decisions: DecisionSummary[];
  next_cursor: string | null;
}

/** Decisions of a period by Principal, with the outcomes that were reported about them at any time. */
export interface DecisionStats {
  since: string;
  until: string;
  /** The relying parties covered; absent if all are covered. */
  rps?: DidWeb[];
  totals: {
    verifies: number;
    allow: number;
    deny: number;
    /** ALLOW Receipts with at least one attestation. */
    allow_with_outcome: number;
  };
  principals: PrincipalStats[];
}

/** One line about a decision. The Receipt is authoritative. */
export interface DecisionSummary {
  receipt_id: ReceiptId;
  decision: 'ALLOW' | 'DENY';
  reason: ReasonCode;
  evaluated_at: string;
  /** Null: the verification authenticated no Grant. */
  principal: DidWeb | null;
  grant_id: GrantId | null;
  agent: DidKey | null;
  rp: DidWeb;
  /** The RP key that requested the verification; null for decisions from before keys were recorded. */
  key_id: ApiKeyId | null;
  /** This and the following members are null for a malformed action and after seven years. */
  action_type: 'commerce:purchase' | 'api:call' | null;
  /** The amount of a purchase, in minor units. */
  amount: number | null;
  currency: string | null;
  /** As submitted. */
  resource: string | null;
  /** The method of an `api:call`. */
  method: string | null;
}

/** A type of event, or `ping`. */
export type DeliveredEventType =
  | 'decision.allow'
  | 'decision.deny'
  | 'grant.revoked'
  | 'agent.disabled'
  | 'key.retired'
  | 'key.compromised'
  | 'principal.verified'
  | 'principal.unverified'
  | 'checkpoint.published'
  | 'outcome.reported'
  | 'budget.low'
  | 'pause.changed'
  | 'approval.requested'
  | 'approval.decided'
  | 'ping';

/** How a dispute ended. */
export interface DisputeResolvedEvent {
  type: 'dispute_resolved';
  /** The time when it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** The place where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this report replaces. It must be of the same decision, must not be a correction itself, and must not be corrected yet. */
  correction_of?: string;
  /** A value of the reporter; stored as given, not checked. */
  reporter_signature?: string;
  resolution: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
  /** In minor units. Stored and shown; statistics count it only with `loss_reported`. */
  loss_amount?: number;
  currency?: string;
}

/** What a verification would answer. Unsigned, and never an ALLOW. */
export interface DryRun {
  /** This is not a Receipt and not a decision: nothing was signed, spent or stored. */
  dry_run: 'nothing was decided';
  /** What a verification would have answered at `evaluated_at`; a moment later it may be different. */
  would: 'allow' | 'deny';
  reason: ReasonCode;
  /** What to do about `reason`, in one sentence; `reason` is that of the first check that fails. */
  remedy: string | null;
  evaluated_at: string;
  relying_party: DidWeb;
  /** Null unless the Grant’s signature verifies. */
  principal: DidWeb | null;
  /** Null unless the Grant’s signature verifies. */
  grant_id: GrantId | null;
  /** Null unless the Proof’s signature verifies. */
  agent: DidKey | null;
  checks: {
    P1: CheckOutcome;
    P2: CheckOutcome;
    P3: CheckOutcome;
    P4: CheckOutcome;
    P5: CheckOutcome;
    P6: CheckOutcome;
    P7: CheckOutcome;
    P8: CheckOutcome;
    P9: CheckOutcome;
    P10: CheckOutcome;
    P11: CheckOutcome;
    P12: CheckOutcome;
    P13: CheckOutcome;
    P14: CheckOutcome;
    P15: CheckOutcome;
    P16: CheckOutcome;
    P17: CheckOutcome;
    P18: CheckOutcome;
    P19: CheckOutcome;
    P20: CheckOutcome;
    T1: CheckOutcome;
    T2: CheckOutcome;
    T3: CheckOutcome;
    T5: CheckOutcome;
  };
  /** Every check that fails, in order. Checks that a failed check keeps from running are `skipped` in `checks`. */
  failed: FailedCheck[];
  /** The Capability that came closest to allowing the Action; null unless the Grant’s signature verifies and the Action is well formed. */
  closest_capability: {
    /** Its index in the Grant, from 0. */
    index: number;
    capability: Capability;
    /** All five, in the order of the checks. */
    conditions: CapabilityCondition[];
  } | null;
}

/** The state of one event at one endpoint. */
export interface EventDelivery {
  event_id: string;
  type: DeliveredEventType;
  /** `failed`: it is not retried, unless it is replayed. */
  state: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  last_attempt_at: string | null;
  /** The HTTP status of the answer; null: there was no answer. */
  last_status: number | null;
  last_problem: string | null;
  next_attempt_at: string | null;
}

/** A page of deliveries, newest first. */
export interface EventDeliveryList {
  deliveries: EventDelivery[];
  next_cursor: string | null;
}

/** A queued ping. */
export interface EventPing {
  subscription_id: string;
  event_id: string;
}

/** An endpoint of a subject, and the event types that it receives. */
export interface EventSubscription {
  subscription_id: string;
  url: string;
  description: string | null;
  types: EventType[];
  /** The remaining percentage of a `maxTotal` at which `budget.low` is sent. */
  budget_low_percent: number;
  created_at: string;
  /** The API key that created the subscription. */
  created_by: ApiKeyId | null;
  state: 'active' | 'failing' | 'disabled';
  /** The time since which no attempt has succeeded. */
  failing_since: string | null;
  /** Why the latest failed attempt failed. */
  last_problem: string | null;
  disabled_at: string | null;
  /** `failing`: attempts failed for five days. `gone`: the endpoint answered 410. */
  disabled_because: 'owner' | 'failing' | 'gone' | null;
  /** The number of open deliveries. */
  waiting: number;
  /** The secrets that sign events, newest first; at most two. */
  secrets: {
    number: number;
    /** Null: it has no end until it is rotated. */
    ends_at: string | null;
  }[];
}

/** A new subscription, with its secret. */
export interface EventSubscriptionCreated {
  subscription_id: string;
  url: string;
  description: string | null;
  types: EventType[];
  /** The remaining percentage of a `maxTotal` at which `budget.low` is sent. */
  budget_low_percent: number;
  created_at: string;
  /** The API key that created the subscription. */
  created_by: ApiKeyId | null;
  state: 'active' | 'failing' | 'disabled';
  /** The time since which no attempt has succeeded. */
  failing_since: string | null;
  /** Why the latest failed attempt failed. */
  last_problem: string | null;
  disabled_at: string | null;
  /** `failing`: attempts failed for five days. `gone`: the endpoint answered 410. */
  disabled_because: 'owner' | 'failing' | 'gone' | null;
  /** The number of open deliveries. */
  waiting: number;
  /** The secrets that sign events, newest first; at most two. */
  secrets: {
    number: number;
    /** Null: it has no end until it is rotated. */
    ends_at: string | null;
  }[];
  /** The secret itself. It is shown only in this answer. */
  secret: string;
}

/** The deleted subscription. */
export interface EventSubscriptionDeleted {
  subscription_id: string;
  deleted: true;
}

export interface EventSubscriptionList {
  subscriptions: EventSubscription[];
}

/** A new secret, and the time until which the one before it is valid. */
export interface EventSubscriptionRotated {
  subscription_id: string;
  /** The secret itself. It is shown only in this answer. */
  secret: string;
  previous_ends_at: string;
}

/** The type of event. Later versions of the service may have more types. */
export type EventType =
  | 'decision.allow'
  | 'decision.deny'
  | 'grant.revoked'
  | 'agent.disabled'
  | 'key.retired'
  | 'key.compromised'
  | 'principal.verified'
  | 'principal.unverified'
  | 'checkpoint.published'
  | 'outcome.reported'
  | 'budget.low'
  | 'pause.changed'
  | 'approval.requested'
  | 'approval.decided';

export interface FailedCheck {
  check:
    | 'P1'
    | 'T1'
    | 'T2'
    | 'T3'
    | 'P2'
    | 'P3'
    | 'P4'
    | 'P5'
    | 'P6'
    | 'P7'
    | 'P8'
    | 'P9'
    | 'P10'
    | 'P11'
    | 'P12'
    | 'P13'
    | 'P15'
    | 'P14'
    | 'P16'
    | 'P17'
    | 'P18'
    | 'P19'
    | 'P20'
    | 'T5';
  /** The condition that the check requires. */
  title: string;
  reason: ReasonCode;
  compared: Comparison[];
  /** What to do, in one sentence. */
  remedy: string;
}

export interface GrantAllocation {
  id: GrantId;
  issuer: DidWeb;
  agent: DidKey;
  credentialStatus: CredentialStatus;
  allocated_at: string;
}

/** Every balance of a Grant, and one page of the movements that led to it. */
export interface GrantConsumption {
  grant_id: GrantId;
  principal: DidWeb;
  agent: DidKey;
  /** The version of the log; 0 if nothing was ever consumed. */
  version: number;
  as_of: string;
  /** SHA-256 over the JCS form of `{grant_id, version, capabilities}`, as Receipts pin it. */
  snapshot_hash: Sha256;
  /** In ascending order of `key`. */
  capabilities: ConsumptionBalance[];
  /** Newest first. */
  events: ConsumptionEvent[];
  next_cursor: number | null;
}

/** One page of Grants, newest first. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface GrantList {
  grants: GrantSummary[];
  next_cursor: string | null;
}

/** The service’s record of a Grant. What the Grant allows is signed by the Principal and not stored here. */
export interface GrantSummary {
  id: GrantId;
  principal: DidWeb;
  agent: DidKey;
  status_list: string;
  status_list_index: number;
  allocated_at: string;
  revoked_at: string | null;
  state: 'active' | 'revoked';
}

export interface KeyCompromised {
  kid: string;
  state: 'compromised';
}

export interface KeyRetired {
  kid: string;
  state: 'retired' | 'compromised';
}

/** The number of decisions that were requested with one API key. */
export interface KeyUsage {
  verifies: number;
  allow: number;
  deny: number;
}

/** What it cost the relying party. */
export interface LossReportedEvent {
  type: 'loss_reported';
  /** The time when it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** The place where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this report replaces. It must be of the same decision, must not be a correction itself, and must not be corrected yet. */
  correction_of?: string;
  /** A value of the reporter; stored as given, not checked. */
  reporter_signature?: string;
  resolution?: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
  /** In minor units. */
  loss_amount: number;
  currency: string;
}

/** The subject of the API key of this call, and the service’s record of it. */
export interface Me {
  subject: DidWeb | OrgId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** The public id of an API key; not a secret. */
  key_id: ApiKeyId;
  service_did: DidWeb;
  env: 'development' | 'production';
  key_label?: string | null;
  key_created_at?: string;
  /** Only for relying parties. */
  name?: string;
  /** Only for relying parties. */
  proof_window_seconds?: number;
  /** Only for Principals. */
  kind?: 'managed' | 'hosted';
  verification?: Verification;
  /** Only for Principals: the signing keys. */
  keys?: {
    kid: string;
    state: 'active' | 'retired' | 'compromised';
  }[];
  /** Only for Principals and relying parties. */
  org_id?: OrgId | null;
  /** Only for org keys. */
  org?: {
    org_id: OrgId;
    slug: string;
    name: string;
    created_at: string;
  };
  /** Only for org keys. */
  members?: OrgMember[];
  /** Only for observer keys: the endpoints that the key may call. */
  scope?: string[];
}

export type OrgMember =
  | {
      did: DidWeb;
      kind: 'principal';
      created_at: string;
      principal_kind: 'managed' | 'hosted';
      domain: string;
      verification_state: 'verified' | 'unverified';
      verification: Verification;
    }
  | {
      did: DidWeb;
      kind: 'relying_party';
      created_at: string;
      name: string;
      proof_window_seconds: number;
      verify_rate_limit_per_minute: number;
    };

/** What a relying party reports about one of its decisions. */
export type OutcomeEvent = PlainOutcomeEvent | DisputeResolvedEvent | LossReportedEvent;

/** A pause: what is denied for now, although it is not revoked. */
export interface Pause {
  scope: PauseScope;
  subject: string;
  /** The Principal to which the Grant or Agent belongs; null for all other scopes. */
  principal: DidWeb | null;
  reason: string | null;
  paused_by: {
    kind: 'admin' | 'principal' | 'rp' | 'org' | 'system';
    /** Null also if it is another org than the caller’s. */
    did: DidWeb | OrgId | null;
    /** Null also if it is not a key of the caller’s own subject. An org key also gets the key of its member to which the paused subject belongs; the operator gets every key. */
    key_id: ApiKeyId | null;
  };
  /** No ALLOW is dated later than this. Null: the pause is recorded, but is not yet known to be visible everywhere; pause again. */
  paused_at: string | null;
}

/** One page of pauses, newest first. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface PauseList {
  pauses: Pause[];
  next_cursor: string | null;
}

export type PauseScope = 'grant' | 'agent' | 'principal' | 'relying_party' | 'org' | 'service';

/** What happened; further particulars are optional. */
export interface PlainOutcomeEvent {
  type: 'fulfilled' | 'cancelled' | 'dispute_opened' | 'chargeback_received' | 'chargeback_reversed';
  /** The time when it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** The place where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this report replaces. It must be of the same decision, must not be a correction itself, and must not be corrected yet. */
  correction_of?: string;
  /** A value of the reporter; stored as given, not checked. */
  reporter_signature?: string;
  resolution?: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
  /** In minor units. Stored and shown; statistics count it only with `loss_reported`. */
  loss_amount?: number;
  currency?: string;
}

/** A Principal’s own record, with what is needed to prove its domain. */
export interface Principal {
  did: DidWeb;
  kind: 'managed' | 'hosted';
  domain: string;
  verification: Verification;
  created_at: string;
  org_id?: OrgId | null;
  /** Consent to be named on the public metrics page. */
  may_be_named?: boolean;
}

/** The decisions of a period about a Principal’s own Grants, grouped. */
export interface PrincipalActivity {
  since: string;
  until: string;
  by: 'agent' | 'grant' | 'rp';
  /** The number of counted decisions. */
  counted: number;
  /** False: the period has more decisions, all older than the counted ones. */
  complete: boolean;
  /** The number of groups; the largest 200 are listed. */
  groups_total: number;
  groups: ActivityGroup[];
}

/** One page of the directory of Principals. `next_cursor` is the `cursor` of the next page; null on the last page. */
export interface PrincipalDirectory {
  principals: PrincipalDirectoryEntry[];
  next_cursor: DidWeb | null;
}

/** The record of a Principal as every caller with a key may read it. */
export interface PrincipalDirectoryEntry {
  did: DidWeb;
  kind: 'managed' | 'hosted';
  domain: string;
  verification: {
    state: 'verified' | 'unverified';
    verified_since: string | null;
    last_checked_at: string | null;
    /** `svc-hosted`: a managed Principal, verified by construction. */
    method: 'domain' | 'svc-hosted';
  };
  /** Every verification method that the service has ever seen. */
  keys: {
    kid: string;
    state: 'active' | 'retired' | 'compromised';
    since: string;
  }[];
  /** The document in force; null if the service has none yet. */
  did_document: JsonObject | null;
  registered_at: string;
  may_be_named?: boolean;
}

/** The decisions of a period against the Grants of one Principal. Losses are in minor units. */
export interface PrincipalStats {
  /** Null: decisions that ended before the Grant was authenticated. */
  principal: DidWeb | null;
  verifies: number;
  allow: number;
  deny: number;
  /** ReasonCode → number of DENYs. */
  reasons: Record<string, number>;
  /** Outcome type → number of attestations that are not corrected by another. */
  outcomes: Record<string, number>;
  /** Currency → sum of the reported losses that are not corrected, in minor units. */
  losses: Record<string, number>;
  /** ALLOW Receipts with at least one attestation. */
  allow_with_outcome: number;
}

export type ReasonCode =
  | 'GRANT_MALFORMED'
  | 'UNSUPPORTED_FEATURE'
  | 'ISSUER_KEY_NOT_FOUND'
  | 'GRANT_SIGNATURE_INVALID'
  | 'GRANT_NOT_YET_VALID'
  | 'GRANT_EXPIRED'
  | 'AUTHORITY_REVOKED'
  | 'AUDIENCE_MISMATCH'
  | 'PROOF_MALFORMED'
  | 'PROOF_SIGNATURE_INVALID'
  | 'PROOF_AGENT_MISMATCH'
  | 'PROOF_GRANT_MISMATCH'
  | 'PROOF_AUDIENCE_MISMATCH'
  | 'PROOF_EXPIRED'
  | 'PROOF_ACTION_MISMATCH'
  | 'ACTION_MALFORMED'
  | 'ACTION_NOT_AUTHORIZED'
  | 'UNKNOWN_CONSTRAINT'
  | 'CURRENCY_NOT_AUTHORIZED'
  | 'AMOUNT_EXCEEDS_AUTHORITY'
  | 'RESOURCE_NOT_AUTHORIZED'
  | 'ISSUER_UNKNOWN'
  | 'ISSUER_UNVERIFIED'
  | 'ISSUER_KEY_COMPROMISED'
  | 'PROOF_REPLAYED'
  | 'SERVICE_UNAVAILABLE'
  | 'ISSUER_NOT_TRUSTED'
  | null;

/** A relying party with its settings. */
export interface RelyingParty {
  did: DidWeb;
  name: string;
  proof_window_seconds: number;
  verify_rate_limit_per_minute: number;
  created_at: string;
  org_id?: OrgId | null;
  /** The set of checks that decide its verifications. `svc-base-v2` supports budgets that are used up. */
  profile?: 'svc-base-v1' | 'svc-base-v2';
}

export interface Resumed {
  scope: PauseScope;
  subject: string;
  paused: false;
  /** No decision dated later than this is denied because of the pause. */
  resumed_at: string;
}

export interface RevokeResponse {
  grant_id: GrantId;
  revoked: true;
  revoked_at: string;
}

/** The number of decisions by UTC day of `evaluated_at`. */
export interface Usage {
  since: string;
  until: string;
  rp?: DidWeb;
  principal?: DidWeb;
  /** Org keys: the relying parties covered. */
  rps?: DidWeb[];
  /** The public id of an API key; not a secret. */
  key_id?: ApiKeyId;
  totals: {
    verifies: number;
    allow: number;
    deny: number;
  };
  days: UsageDay[];
}

/** The decisions of one UTC day. */
export interface UsageDay {
  /** A UTC day. Days without a verification are listed too. */
  day: string;
  verifies: number;
  allow: number;
  deny: number;
  /** ReasonCode → number of DENYs. */
  reasons: Record<string, number>;
  /** With `by=key`: API key id → its counts. `unknown` counts decisions from before keys were recorded. */
  keys?: Record<string, KeyUsage>;
}

/** Whether control of the domain is proven, and the two ways to prove it; one of them suffices. */
export interface Verification {
  state: 'verified' | 'unverified';
  token: string;
  dns_txt: {
    name: string;
    value: string;
  };
  well_known: {
    url: string;
    body: JsonObject;
  };
  reverified_every_hours: 24;
  did_document_url: string;
}
