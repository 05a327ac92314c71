/** Failure codes of an inclusion proof. */
import type { CheckpointFailureCode } from '../checkpoint/failure.ts';
import type { ServiceKeyFailureCode } from '../service-keys.ts';

/** All faults of an inclusion proof. */
export type InclusionFailureCode =
  | CheckpointFailureCode
  | ServiceKeyFailureCode
  /** The Receipt belongs to another day than the checkpoint. */
  | 'wrong-time'
  /** An unsigned member contradicts the signed checkpoint. */
  | 'payload-mismatch'
  /** Not JSON, not an object, or too long. */
  | 'malformed-inclusion'
  /** The day is still open, so there is no proof yet: the Receipt is neither proven right nor wrong. */
  | 'inclusion-pending'
  /** Neither a Checkpoint nor its JWS. */
  | 'malformed-checkpoint'
  /** The proof belongs to another Receipt. */
  | 'other-receipt'
  /** The checkpoint given is not the one in the proof: two checkpoints of one day are a fork. */
  | 'other-checkpoint'
  /** The leaf is not the leaf of the Receipt. */
  | 'wrong-leaf'
  /** The path does not lead from the Receipt to the root of the checkpoint. */
  | 'not-included'
  /**
   * The text is not an attestation, is not about this Receipt and this checkpoint, or is dated before the checkpoint.
   */
  | 'wrong-attestation';
