/** Generated from the contract by `pnpm --filter @svc/sdk-core generate`. Do not edit. */
import type { ApiKeyId, DidKey, DidWeb, GrantId, JsonObject, OrgId } from '@svc/protocol';

/** A Principal’s note of an Agent. Inventory only: no verification consults it. */
export interface Agent {
  did: DidKey;
  principal: DidWeb;
  created_at: string;
}

export interface AgentDisabled {
  did: DidKey;
  /** No ALLOW of these Grants is dated later. */
  disabled_at: string;
  /** Every Grant of the Principal that names the Agent, ascending; all are revoked. */
  revoked_grants: GrantId[];
}

export interface ApiKey {
  /** Public name of an API key; never a secret. */
  key_id: ApiKeyId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** The Principal or relying party, the org of an org key, the service itself for an observer key. */
  subject: DidWeb | OrgId;
  label: string | null;
  created_at: string;
  revoked_at: string | null;
}

export interface ApiKeyIssued {
  /** Public name of an API key; never a secret. */
  key_id: ApiKeyId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** The Principal or relying party, the org of an org key, the service itself for an observer key. */
  subject: DidWeb | OrgId;
  label: string | null;
  created_at: string;
  revoked_at: string | null;
  /** The secret itself. It is shown in this answer and never again. */
  api_key: string;
}

export interface ApiKeyList {
  subject: DidWeb;
  keys: ApiKey[];
}

export interface ApiKeyRevoked {
  /** Public name of an API key; never a secret. */
  key_id: ApiKeyId;
  revoked: true;
  revoked_at: string;
}

/** What the relying party later reported about a decision. */
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
  | 'outcome.report';

export interface AuditEvent {
  event_id: string;
  occurred_at: string;
  actor: {
    kind: 'admin' | 'principal' | 'rp' | 'org' | 'system';
    /** Subject DID, or org id. */
    did: DidWeb | OrgId | null;
    /** Public name of an API key; never a secret. */
    key_id: ApiKeyId | null;
  };
  action: AuditAction;
  /** What it was done to: a DID, or the id of a Grant or key. */
  target: string | null;
  /** `Svc-Request-Id` of the call. */
  request_id: string | null;
  details: JsonObject;
}

export interface AuditList {
  events: AuditEvent[];
  next_cursor: string | null;
}

/** Goes into the Grant as `credentialStatus`, unchanged. */
export interface CredentialStatus {
  id: string;
  type: 'BitstringStatusListEntry';
  statusPurpose: 'revocation';
  statusListIndex: string;
  statusListCredential: string;
}

/** How a dispute ended. */
export interface DisputeResolvedEvent {
  type: 'dispute_resolved';
  /** When it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** Where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this one replaces: of the same decision, no correction itself, not yet corrected. */
  correction_of?: string;
  /** The reporter’s own; kept as given, not checked. */
  reporter_signature?: string;
  resolution: 'agent_at_fault' | 'agent_not_at_fault' | 'indeterminate';
}

export interface GrantAllocation {
  id: GrantId;
  issuer: DidWeb;
  agent: DidKey;
  credentialStatus: CredentialStatus;
  allocated_at: string;
}

export interface GrantList {
  grants: GrantSummary[];
  next_cursor: string | null;
}

/** What the service knows of a Grant. What it allows is signed by the Principal and not stored. */
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

/** What it cost the relying party. */
export interface LossReportedEvent {
  type: 'loss_reported';
  /** When it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** Where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this one replaces: of the same decision, no correction itself, not yet corrected. */
  correction_of?: string;
  /** The reporter’s own; kept as given, not checked. */
  reporter_signature?: string;
  /** In minor units. */
  loss_amount: number;
  currency: string;
}

export interface Me {
  subject: DidWeb | OrgId;
  role: 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';
  /** Public name of an API key; never a secret. */
  key_id: ApiKeyId;
  service_did: DidWeb;
  env: 'development' | 'production';
  key_label?: string | null;
  key_created_at?: string;
  /** Relying parties. */
  name?: string;
  /** Relying parties. */
  proof_window_seconds?: number;
  /** Principals. */
  kind?: 'managed' | 'hosted';
  verification?: Verification;
  /** Principals: signing keys. */
  keys?: {
    kid: string;
    state: 'active' | 'retired' | 'compromised';
  }[];
  /** Principals and relying parties. */
  org_id?: OrgId | null;
  /** Org keys. */
  org?: {
    org_id: OrgId;
    slug: string;
    name: string;
    created_at: string;
  };
  /** Org keys. */
  members?: OrgMember[];
  /** Observer keys: the endpoints the key may call. */
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

export type OutcomeEvent = PlainOutcomeEvent | DisputeResolvedEvent | LossReportedEvent;

/** What happened, without further particulars. */
export interface PlainOutcomeEvent {
  type:
    | 'fulfilled'
    | 'cancelled'
    | 'dispute_opened'
    | 'chargeback_received'
    | 'chargeback_reversed';
  /** When it happened: at most five minutes ahead of the service’s clock. */
  occurred_at: string;
  /** Where the reporter keeps the evidence. */
  evidence_ref?: string;
  note?: string;
  /** The attestation that this one replaces: of the same decision, no correction itself, not yet corrected. */
  correction_of?: string;
  /** The reporter’s own; kept as given, not checked. */
  reporter_signature?: string;
}

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

export interface PrincipalDirectory {
  principals: PrincipalDirectoryEntry[];
  next_cursor: DidWeb | null;
}

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
  /** Every verification method ever seen. */
  keys: {
    kid: string;
    state: 'active' | 'retired' | 'compromised';
    since: string;
  }[];
  /** The document in force; null while none has been had. */
  did_document: JsonObject | null;
  registered_at: string;
  may_be_named?: boolean;
}

export interface RelyingParty {
  did: DidWeb;
  name: string;
  proof_window_seconds: number;
  verify_rate_limit_per_minute: number;
  created_at: string;
  org_id?: OrgId | null;
  /** The set of checks that decide its verifications. */
  profile?: 'svc-base-v1';
}

export interface RevokeResponse {
  grant_id: GrantId;
  revoked: true;
  revoked_at: string;
}

/** Whether control of the domain is proven, and the two ways to prove it; either suffices. */
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
