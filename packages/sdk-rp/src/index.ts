export type { Action, Capability, CryptoPort, ReasonCode } from '@svc/protocol';
export type { Receipt } from '@svc/receipts';
export { SvcError, type SvcErrorKind } from '@svc/sdk-core';
export type { SvcAuthority } from './authorize.ts';
export {
  checkReceipt,
  type ReceiptCheck,
  type ReceiptExpectation,
  type ReceiptFailure,
  type ReceivedRequest,
} from './check-receipt.ts';
export {
  type CallOptions,
  createVerifier,
  RequestMismatchError,
  type Verdict,
  type Verifier,
  type VerifierOptions,
  type VerifyInput,
} from './verifier.ts';
export type { Attestation, Decision, Me, OutcomeType } from './wire.ts';
