/** `@svc/merkle/checkpoint`: the signed checkpoint that closes a UTC day, and the chain of them. */
export { buildCheckpoint, type CheckpointDraft } from './checkpoint/build.ts';
export {
  type CheckpointDifference,
  findChainBreak,
  findCheckpointDifference,
} from './checkpoint/chain.ts';
export { dayAfter, dayOfReceipt, isDay, leafOfReceipt } from './checkpoint/day.ts';
export type { CheckpointFailure, CheckpointFailureCode } from './checkpoint/failure.ts';
export {
  type CheckpointToVerify,
  parseSignedCheckpoint,
  type SignedCheckpoint,
  signCheckpoint,
  verifyCheckpoint,
} from './checkpoint/jws.ts';
export {
  CHECKPOINT_MAX_CHARS,
  CHECKPOINT_TYP,
  type Checkpoint,
  TREE,
} from './checkpoint/payload.ts';
export { parseCheckpoint } from './checkpoint/rules.ts';
