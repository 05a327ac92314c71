/** Collects what one run of the monitor finds, and writes the messages of its alarms and doubts. */
import type { CheckpointDifference } from '../checkpoint/chain.ts';
import { compareCheckpoints } from './compare.ts';
import type { Alarm, Doubt } from './finding.ts';
import type { LeavesVerdict } from './leaves.ts';
import { type CheckpointFetch, checkpointPath, type Published } from './published.ts';
import type { SeenDay } from './seen.ts';

type WrongLeaves = Extract<LeavesVerdict, { kind: 'wrong' }>;

export class Findings {
  readonly alarms: Alarm[] = [];
  readonly doubts: Doubt[] = [];

  doubt(day: string, message: string): void {
    this.doubts.push({ path: checkpointPath(day), message });
  }

  /** Adds an alarm if the two checkpoints differ, and returns whether they do. */
  differences(before: Published, now: Published): boolean {
    const found = compareCheckpoints(before, now);
    this.alarms.push(...found);
    return found.length > 0;
  }

  rolledBack(last: SeenDay, latest: Published | null): void {
    const { day } = last.checkpoint;
    this.alarms.push({
      code: 'rolled-back',
      day,
      message: 'the latest day lies before one that was published',
      seen: day,
      now: latest?.checkpoint.day ?? null,
      checkpoints: latest === null ? [last.jws] : [last.jws, latest.jws],
    });
  }

  wrongCheckpoint(
    day: string,
    found: Extract<CheckpointFetch, { kind: 'wrong' }>,
    before: SeenDay | undefined,
  ): void {
    this.alarms.push({
      code: 'wrong-checkpoint',
      day: day === 'latest' ? null : day,
      message: `what is served as the checkpoint of ${day} is none: ${found.problem}`,
      seen: before?.checkpoint.root ?? null,
      now: found.jws,
      checkpoints: before === undefined ? [] : [before.jws],
    });
  }

  vanished({ checkpoint: { day, root }, jws }: SeenDay): void {
    this.alarms.push({
      code: 'vanished-day',
      day,
      message: 'a published day is not served any more',
      seen: root,
      now: null,
      checkpoints: [jws],
    });
  }

  missing(day: string): void {
    this.alarms.push({
      code: 'missing-day',
      day,
      message: 'a later day is published, and this one is not',
      seen: null,
      now: null,
      checkpoints: [],
    });
  }

  brokenChain(last: SeenDay, published: Published, broken: CheckpointDifference): void {
    this.alarms.push({
      code: 'broken-chain',
      day: broken.day,
      message: `it does not follow the day before: its ${broken.member} is another`,
      seen: String(broken.expected),
      now: String(broken.got),
      checkpoints: [last.jws, published.jws],
    });
  }

  wrongLeaves({ checkpoint: { day }, jws }: SeenDay, { expected, found }: WrongLeaves): void {
    this.alarms.push({
      code: 'wrong-leaves',
      day,
      message: 'the leaves are not what the checkpoint was made from',
      seen: expected,
      now: found,
      checkpoints: [jws],
    });
  }
}

/** Removes duplicates: one fault can be found both with the latest checkpoint and with a repeated fetch. */
export const distinct = (alarms: readonly Alarm[]): Alarm[] => {
  const byText = new Map(alarms.map((alarm) => [JSON.stringify(alarm), alarm]));
  return [...byText.values()];
};
