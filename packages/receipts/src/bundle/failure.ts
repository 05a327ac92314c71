/** Failure codes of a bundle. */
import type { InclusionFailureCode } from '@svc/transparency';
import type { FailureCode } from '../failure.ts';

/** Each thing that can be wrong with a bundle. */
export type BundleFailureCode =
  | FailureCode
  | InclusionFailureCode
  /** Not plain JSON, not an object, nested deeper than 32, or too long. */
  | 'malformed-bundle'
  /** Signed by a key that is not among the pinned ones, or is pinned for something else. */
  | 'unpinned-key'
  /** Every pinned key signed, and so did an unpinned one, which may have been omitted from the pins. */
  | 'missing-key'
  /** An artifact does not have its stated hash. */
  | 'wrong-evidence'
  /** The Receipt names evidence that is not in the bundle. */
  | 'missing-evidence';
