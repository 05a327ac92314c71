/** Failure codes of a bundle. */
import type { InclusionFailureCode } from '@svc/transparency';
import type { FailureCode } from '../failure.ts';

/** All faults of a bundle. */
export type BundleFailureCode =
  | FailureCode
  | InclusionFailureCode
  /** Not plain JSON, not an object, nested deeper than 32, or too long. */
  | 'malformed-bundle'
  /** Signed by a key that is not pinned, or is pinned for another purpose. */
  | 'unpinned-key'
  /** Every pinned key signed, and so did one that is not pinned; the caller may have forgotten to pin it. */
  | 'missing-key'
  /** An artifact does not have its stated hash. */
  | 'wrong-evidence'
  /** The Receipt names evidence that is not in the bundle. */
  | 'missing-evidence';
