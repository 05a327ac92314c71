export type { Action, Capability, CryptoPort, ReasonCode } from '@svc/protocol';
export type { Receipt } from '@svc/receipts';
export {
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
  type Directory,
  type DirectoryFilter,
  type Me,
  type OutcomeEvent,
  type PrincipalDirectory,
  type PrincipalDirectoryEntry,
  type RelyingParty,
  SvcError,
  type SvcErrorKind,
} from '@svc/sdk-core';
export type { SvcAuthority } from './authorize.ts';
export {
  checkReceipt,
  type ReceiptCheck,
  type ReceiptExpectation,
  type ReceiptFailure,
  type ReceivedRequest,
} from './check-receipt.ts';
export type { Outcomes } from './outcomes.ts';
export type { OwnSettings } from './own-settings.ts';
export { RequestMismatchError } from './request-mismatch.ts';
export {
  createVerifier,
  type Verdict,
  type Verifier,
  type VerifierOptions,
  type VerifyInput,
} from './verifier.ts';
export type { Decision, OutcomeType } from './wire.ts';
