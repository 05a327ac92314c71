/** `@svc/receipts/inclusion`: that a Receipt is in the signed checkpoint of its day. */
export type { InclusionFailureCode } from './inclusion/failure.ts';
export {
  INCLUSION_MAX_CHARS,
  type InclusionToVerify,
  type VerifiedInclusion,
  verifyReceiptInclusion,
} from './inclusion/verify-inclusion.ts';
