/** Sign, read and verify Receipts offline. `@svc/receipts/audit` re-evaluates the decision. */
export { readServiceKeys, type ServiceKeys } from '@svc/transparency/service-keys';
export type { Failure, FailureCode } from './failure.ts';
export { RECEIPT_JWS_MAX_CHARS, RECEIPT_MAX_CHARS, RECEIPT_TYP, type Receipt } from './receipt.ts';
export { receiptTextOf, receiptTextOfStored, spliceReceipt } from './receipt-text.ts';
export { type SignedReceipt, signReceipt } from './sign-receipt.ts';
export { type Verdict, verdictOf } from './verdict.ts';
export {
  parseReceipt,
  type VerifiedReceipt,
  type VerifyOptions,
  verifyReceipt,
} from './verify/verify-receipt.ts';
