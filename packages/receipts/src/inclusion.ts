/** `@svc/receipts/inclusion`: verifies that a Receipt is in the signed checkpoint of its day. */
export {
  INCLUSION_MAX_CHARS,
  type InclusionFailureCode,
  type InclusionToVerify,
  type VerifiedInclusion,
  verifyReceiptInclusion,
} from '@svc/transparency';
export {
  type IncludedReceipt,
  type IncludedToVerify,
  verifyIncludedReceipt,
} from './verify/verify-included.ts';
