/**
 * The chain of days: each checkpoint names the root of the previous day (protocol §12). A root covers only its own day,
 * so a kept checkpoint reveals a change to its day and to the day before it. To detect every change, keep every
 * checkpoint.
 */
import { dayAfter } from './day.ts';
import type { Checkpoint } from './payload.ts';

/** The member in which a checkpoint does not follow from the previous one, or differs from its expected value. */
export interface CheckpointDifference {
  /** The day of the first checkpoint that breaks the chain. */
  readonly day: string;
  readonly member: keyof Checkpoint;
  readonly expected: string | number | null;
  readonly got: string | number | null;
}

/**
 * The first break in a list of checkpoints; null if there is none. The first checkpoint is accepted unchecked;
 * signatures are not checked.
 */
export const findChainBreak = (checkpoints: Iterable<Checkpoint>): CheckpointDifference | null => {
  let previous: Checkpoint | null = null;
  for (const checkpoint of checkpoints) {
    const found = previous === null ? null : findBreak(previous, checkpoint);
    if (found !== null) return found;
    previous = checkpoint;
  }
  return null;
};

const findBreak = (previous: Checkpoint, checkpoint: Checkpoint): CheckpointDifference | null =>
  differenceIn(checkpoint, 'iss', previous.iss) ??
  differenceIn(checkpoint, 'day', dayAfter(previous.day)) ??
  differenceIn(checkpoint, 'previous_root', previous.root);

/** The most significant member comes first. */
const MEMBERS = [
  ...(['iss', 'day', 'tree', 'tree_size', 'root', 'previous_root'] as const),
  ...(['first_receipt_id', 'last_receipt_id', 'iat'] as const),
];

/**
 * The first member in which two checkpoints of one day differ; null if they are equal. A closed day never changes, so
 * any difference is a fork or a rewritten day.
 */
export const findCheckpointDifference = (
  seen: Checkpoint,
  other: Checkpoint,
): CheckpointDifference | null => {
  for (const member of MEMBERS) {
    const found = differenceIn(other, member, seen[member]);
    if (found !== null) return found;
  }
  return null;
};

const differenceIn = (
  checkpoint: Checkpoint,
  member: keyof Checkpoint,
  expected: Checkpoint[keyof Checkpoint],
): CheckpointDifference | null =>
  checkpoint[member] === expected ? null : { day: checkpoint.day, member, expected, got: checkpoint[member] };
