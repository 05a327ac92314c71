/**
 * The chain of days: each checkpoint follows the one of the day before and names its root (protocol §12). A root covers
 * its own day alone: whoever keeps one checkpoint notices a change to that day and to the one before it, and whoever
 * wants to notice every change keeps every checkpoint.
 */
import { dayAfter } from './day.ts';
import type { Checkpoint } from './payload.ts';

export interface CheckpointDifference {
  /** The day of the checkpoint that does not fit. */
  readonly day: string;
  readonly member: keyof Checkpoint;
  readonly expected: string | number | null;
  readonly got: string | number | null;
}

/**
 * The first place at which checkpoints that stand in a row do not follow each other, or null. The first one is taken as
 * it is. Says nothing about signatures.
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

/** In the order in which a difference says most. */
const MEMBERS = [
  ...(['iss', 'day', 'tree', 'tree_size', 'root', 'previous_root'] as const),
  ...(['first_receipt_id', 'last_receipt_id', 'iat'] as const),
];

/**
 * The first member in which another checkpoint of a day differs from the one that was seen before, or null. A closed day
 * never changes, so any difference is a fork or a rewritten day.
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
