/** `@svc/receipts/bundle`: a Receipt with everything needed to verify it offline, in one file. */

export type { PinnedKey, TimedKey, UntimedKey } from '@svc/transparency';
export type { EvidenceItem } from './bundle/evidence.ts';
export type { BundleFailureCode } from './bundle/failure.ts';
export type { BundlePin } from './bundle/pin.ts';
export { BUNDLE_MAX_CHARS, type VerifiedBundle, verifyBundle } from './bundle/verify-bundle.ts';
