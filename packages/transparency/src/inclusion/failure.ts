/** Failure codes of an inclusion proof. */
import type { CheckpointFailureCode } from '../checkpoint/failure.ts';
import type { ServiceKeyFailureCode } from '../service-keys.ts';

/** Each thing that can be wrong with an inclusion proof. */
export type InclusionFailureCode =
  | CheckpointFailureCode
  | ServiceKeyFailureCode
  /** The Receipt is of another day than the checkpoint. */
  | 'wrong-time'
  /** An unsigned member contradicts the signed checkpoint. */
  | 'payload-mismatch'
  /** Not JSON, not an object, or too long. */
  | 'malformed-inclusion'
  /** The day is still open, so there is no proof yet: neither right nor wrong. */
  | 'inclusion-pending'
  /** Neither a Checkpoint nor its JWS. */
  | 'malformed-checkpoint'
  /** The proof is of another Receipt. */
  | 'other-receipt'
  /** The checkpoint given is not the one in the proof: two checkpoints of one day are a fork. */
  | 'other-checkpoint'
  /** The leaf is not that of the Receipt. */
  | 'wrong-leaf'
  /** The path does not lead from the Receipt to the root of the checkpoint. */
  | 'not-included'
  /** The attestation is not about this Receipt and this checkpoint, is dated before that, or is none. */
  | 'wrong-attestation';
