/** The service's published keys, daily checkpoints, inclusion proofs and attestations. */
export {
  ATTESTATION_TYP,
  type Attestation,
  type AttestationFailure,
  findOtherCheckpoint,
  signAttestation,
  type VerifiedAttestation,
  verifyAttestation,
} from './attestation.ts';
export { buildCheckpoint, type CheckpointDraft } from './checkpoint/build.ts';
export { type CheckpointDifference, findChainBreak, findCheckpointDifference } from './checkpoint/chain.ts';
export { dayAfter, dayOfReceipt, isDay, leafOfReceipt } from './checkpoint/day.ts';
export type { CheckpointFailure, CheckpointFailureCode } from './checkpoint/failure.ts';
export {
  type CheckpointToVerify,
  parseSignedCheckpoint,
  type SignedCheckpoint,
  signCheckpoint,
  verifyCheckpoint,
} from './checkpoint/jws.ts';
export { CHECKPOINT_MAX_CHARS, CHECKPOINT_TYP, type Checkpoint, TREE } from './checkpoint/payload.ts';
export { parseCheckpoint } from './checkpoint/rules.ts';
export type { InclusionFailureCode } from './inclusion/failure.ts';
export {
  INCLUSION_MAX_CHARS,
  type InclusionToVerify,
  type VerifiedInclusion,
  verifyReceiptInclusion,
} from './inclusion/verify-inclusion.ts';
export { findUntimely, type KeyTime, MAX_AHEAD_MS, REVOKED, VALID_FROM, VALID_UNTIL } from './key-time.ts';
export {
  type PinnedKey,
  readPinnedKeys,
  readPinnedPurposes,
  type TimedKey,
  type UntimedKey,
} from './pinned-keys.ts';
export {
  RESTORE_TYP,
  type RestoreStatement,
  type RestoreStatementFailure,
  type RestoreStatementToVerify,
  verifyRestoreStatement,
} from './restore-statement.ts';
export { readServiceJws, type ServiceJws } from './service-jws.ts';
export {
  DID_DOCUMENT_MAX_CHARS,
  type KeyPurpose,
  openServiceKeys,
  readServiceKeys,
  type ServiceKeyFailure,
  type ServiceKeyFailureCode,
  type ServiceKeys,
} from './service-keys.ts';
