export type { Signer } from '@svc/codec';
export type { Capability } from '@svc/protocol';
export {
  type AccessRequest,
  type AccessRequestList,
  type AccessRequestStatus,
  type Agent as RegisteredAgent,
  type ApiKey,
  type ApiKeyIssued,
  type ApiKeyList,
  type ApiKeys,
  type AuditEvent,
  type AuditFilter,
  type AuditList,
  type AuditLog,
  type CallOptions,
  type ConsumptionBalance,
  type ConsumptionEvent,
  type Decision,
  type DecisionExportRow,
  type DecisionList,
  type DecisionStats,
  type DecisionSummary,
  type Directory,
  type DirectoryFilter,
  type EventDelivery,
  type EventDeliveryList,
  type EventPing,
  type EventSubscription,
  type EventSubscriptionCreated,
  type EventSubscriptionDeleted,
  type EventSubscriptionRotated,
  type EventSubscriptions,
  type EventType,
  type GrantConsumption,
  type GrantList,
  type GrantSummary,
  type KeyUsage,
  type Me,
  type NewEventSubscription,
  type Pause,
  type PauseList,
  type PauseOptions,
  type Pauses,
  type PauseTarget,
  type Principal,
  type PrincipalActivity,
  type PrincipalDirectory,
  type PrincipalDirectoryEntry,
  type ReceivedWebhook,
  type ReplayFrom,
  SvcError,
  type SvcErrorKind,
  type Usage,
  type UsageDay,
  type UsageFilter,
  verifyWebhook,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventType,
  type WebhookOptions,
} from '@svc/sdk-core';
export type { Agents, DisabledAgent } from './agents.ts';
export type { ApprovalFilter, ApprovalTerms, ApproveOptions, PrincipalApprovals } from './approvals.ts';
export { type ApiCallLimits, apiCall, type PurchaseLimits, purchase } from './capabilities.ts';
export {
  type AccessRequestEvidence,
  type CheckedAccessRequest,
  checkAccessRequest,
} from './check-access-request.ts';
export { createPrincipalClient, type PrincipalClient, type PrincipalClientOptions } from './client.ts';
export type { OwnDecisionFilter, OwnDecisions } from './decisions.ts';
export type { Ed25519PrivateJwk } from './ed25519.ts';
export type { GrantRequest } from './grant-draft.ts';
export type { GrantFilter, Grants, IssuedGrant } from './grants.ts';
export type { OwnRecord } from './own-record.ts';
export { generatePrincipalKey, type PrincipalKey, signerFromJwk } from './principal-key.ts';
export type { SigningKeys } from './signing-keys.ts';
