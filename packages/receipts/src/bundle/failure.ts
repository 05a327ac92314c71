/** What can be wrong with a bundle. */
import type { InclusionFailureCode } from '@svc/transparency';
import type { FailureCode } from '../failure.ts';

export type BundleFailureCode =
  | FailureCode
  | InclusionFailureCode
  /** Not JSON, not an object, or too long. */
  | 'malformed-bundle'
  /** Signed by a key that is not among the pinned ones. */
  | 'unpinned-key'
  /** An artifact that does not have the hash under which it stands. */
  | 'wrong-evidence'
  /** The Receipt names evidence that the bundle does not hold. */
  | 'missing-evidence';
