/** Compares two checkpoints of one day. A closed day never changes, so they must be identical. */
import { findCheckpointDifference } from '../checkpoint/chain.ts';
import type { Alarm } from './finding.ts';
import type { Published } from './published.ts';

/** Both must be verified already. Returns at most one alarm. */
export const compareCheckpoints = (before: Published, now: Published): readonly Alarm[] => {
  if (before.jws === now.jws) return [];
  const found = findCheckpointDifference(before.checkpoint, now.checkpoint);
  const { day } = before.checkpoint;
  const checkpoints = [before.jws, now.jws];
  if (found === null) {
    const message = 'a published day was signed anew';
    return [{ code: 'changed-day', day, message, seen: before.jws, now: now.jws, checkpoints }];
  }
  const message = `the service has signed two checkpoints of one day: its ${found.member} is another`;
  const [seen, current] = [String(found.expected), String(found.got)];
  return [{ code: 'changed-day', day, message, seen, now: current, checkpoints }];
};
