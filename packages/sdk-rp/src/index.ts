export type { CryptoPort } from '@svc/codec';
export { type Action, type Capability, REASON_TEXTS, type ReasonCode } from '@svc/protocol';
export { type Receipt, readServiceKeys, type ServiceKeys } from '@svc/receipts';
export {
  type AccessRequest,
  type AccessRequestStatus,
  type ApiKey,
  type ApiKeyIssued,
  type ApiKeyList,
  type ApiKeys,
  type Attestation,
  type AuditEvent,
  type AuditFilter,
  type AuditList,
  type AuditLog,
  type CallOptions,
  type DecisionList,
  type DecisionStats,
  type DecisionSummary,
  type Directory,
  type DirectoryFilter,
  type DryRun,
  type EventDelivery,
  type EventDeliveryList,
  type EventPing,
  type EventSubscription,
  type EventSubscriptionCreated,
  type EventSubscriptionDeleted,
  type EventSubscriptionRotated,
  type EventSubscriptions,
  type EventType,
  type KeyUsage,
  type Me,
  type NewEventSubscription,
  type OutcomeEvent,
  type Pause,
  type PauseOptions,
  type PrincipalDirectory,
  type PrincipalDirectoryEntry,
  type PrincipalStats,
  type ReceivedWebhook,
  type RelyingParty,
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
export type { AnswerWindow } from './answer-window.ts';
export type { Approvals, RequestApprovalOptions, WaitForApprovalOptions } from './approvals.ts';
export type { SvcAuthority } from './authorize.ts';
export {
  checkReceipt,
  type ReceiptCheck,
  type ReceiptExpectation,
  type ReceivedRequest,
} from './check-receipt.ts';
export type { Decision } from './decision.ts';
export type { DecisionBundle } from './decision-bundle.ts';
export type { DecisionExportRow, DecisionFilter, DecisionLists } from './decision-lists.ts';

export type { Outcomes, OutcomeType } from './outcomes.ts';
export type { OwnSettings } from './own-settings.ts';
export { ReceiptError } from './receipt-error.ts';
export type { ReceiptFailure } from './receipt-failure.ts';
export { RequestMismatchError } from './request-mismatch.ts';
export type { StatsFilter } from './statistics.ts';
export { createVerifier, type Verifier } from './verifier.ts';
export type { VerifierOptions } from './verifier-options.ts';
export type { Verdict, VerifyOptions } from './verify.ts';
export type { DryRunInput, VerifyInput } from './verify-input.ts';
