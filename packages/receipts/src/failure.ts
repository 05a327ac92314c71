/** Failure codes of a Receipt: a closed list, so that callers can handle each. */
import type { Failure as CodedFailure } from '@svc/codec';
import type { ServiceKeyFailureCode } from '@svc/transparency/service-keys';

/** All faults of a Receipt. One fault may be reported with more than one code. */
export type FailureCode =
  /** Not plain JSON, not an object, nested deeper than 32, or longer than a Receipt can be. */
  | 'malformed-receipt'
  | 'missing-member'
  | 'unknown-member'
  /** A member of the wrong type or format. */
  | 'malformed-member'
  /** `receipt` is not a compact JWS of three canonical base64url parts. */
  | 'malformed-jws'
  /** The protected header is not exactly alg EdDSA, kid and the typ of a Receipt. */
  | 'wrong-header'
  /** The payload is not the RFC 8785 form of a JSON object, nested no deeper than 32. */
  | 'payload-not-canonical'
  /** The Receipt's members differ from the signed payload. */
  | 'payload-mismatch'
  | ServiceKeyFailureCode
  /** `evaluated_at` is not the time in `receipt_id`. */
  | 'wrong-time'
  /** A check has an outcome that contradicts the outcomes of its requirements. */
  | 'wrong-outcome'
  | 'wrong-decision'
  | 'wrong-reason'
  | 'wrong-result'
  /** A member is present or missing contrary to the check outcomes (protocol §8). */
  | 'wrong-presence'
  /** Two members contradict each other. */
  | 'contradiction'
  /** Evidence older than the trust configuration allows. */
  | 'stale-evidence'
  /** This version of the library does not know the profile; a later one may. */
  | 'unknown-profile'
  /** The profile is known, but not under this hash: every change of its published text gives a new hash. */
  | 'wrong-profile-hash'
  /** This version of the library does not know the trust configuration; a later one may. */
  | 'unknown-trust-config'
  | 'wrong-trust-config-hash';

/** A fault of a Receipt: a code of a closed list, and a message for people. */
export type Failure<Code extends string = FailureCode> = CodedFailure<Code>;
