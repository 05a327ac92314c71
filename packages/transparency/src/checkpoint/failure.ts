/** Failure codes of a signed checkpoint, named like those of `@svc/receipts`. */
import type { Failure } from '@svc/codec';
import type { ServiceKeyFailureCode } from '../service-keys.ts';

/** All faults of a checkpoint. */
export type CheckpointFailureCode =
  /** Not a compact JWS of three canonical base64url parts over JSON objects, or too long. */
  | 'malformed-jws'
  /** The protected header is not exactly alg EdDSA, a kid of the service's status keys, and the typ of a checkpoint. */
  | 'wrong-header'
  /** The payload is not the RFC 8785 form of its JSON. */
  | 'payload-not-canonical'
  | 'missing-member'
  | 'unknown-member'
  | 'malformed-member'
  /** Two members contradict each other. */
  | 'contradiction'
  | ServiceKeyFailureCode;

/** A fault of a checkpoint: a code, and a message for people. */
export type CheckpointFailure = Failure<CheckpointFailureCode>;
