/**
 * What is kept for a time only (interface §Limits): spent Proofs and idempotency keys go, action fields of old Receipts
 * are cleared. Small steps, each committed by itself and followed by a pause as long as it took, so that decisions keep
 * half of the database at least. A round ends after a minute; the next goes on there, and what was cut off is found by a later one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceDeps } from '../deps.ts';
import type { Sweep, Swept } from '../ports/retention.ts';
import { roundUntil } from './round.ts';

const MAX_PAUSE_MS = 500;
const RECEIPTS_PER_STEP = 500;

type Deps = Pick<ServiceDeps, 'store' | 'clock'>;

export interface Forgotten {
  readonly removed: number;
  /** 1 where the round was over before everything was done, else 0. */
  readonly left: number;
}

/** How far a sweep is. Each round changes it. */
export interface SweepPlace {
  /** Where the next round begins, as `Sweep.next` says it; 0 for the start. */
  from: number;
  /** Once around the table, over as many rounds as it takes: where it began, and how often it has met the end. Null: none is under way. */
  lap: { readonly began: number; ends: number } | null;
}

/** Anywhere in a table: where a process begins that has no place, and may do one round only. */
export const drawSweepPlace = async (
  { store, random }: Pick<ServiceDeps, 'store' | 'random'>,
  table: Swept,
): Promise<SweepPlace> => {
  const end = await store.retention.endOf(table);
  const [drawn = 0] = new Uint32Array(Uint8Array.from(random.bytes(4)).buffer);
  return { from: Math.floor((drawn / 2 ** 32) * end), lap: null };
};

export const forgetSpentProofs = (
  { store, clock }: Deps,
  stop: AbortSignal,
  place: SweepPlace = { from: 0, lap: null },
): Promise<Forgotten> =>
  sweepOn((from) => store.retention.sweepSpentProofs(from, clock.nowMs()), stop, place);

export const forgetIdempotencyKeys = (
  { store, clock }: Deps,
  stop: AbortSignal,
  place: SweepPlace = { from: 0, lap: null },
): Promise<Forgotten> =>
  sweepOn((from) => store.retention.sweepIdempotencyKeys(from, clock.nowMs()), stop, place);

export const clearOldActions = async (
  { store, clock }: Deps,
  stop: AbortSignal,
): Promise<{ readonly cleared: number; readonly left: number }> => {
  let cleared = 0;
  const left = await stepByStep(stop, async () => {
    const step = await store.retention.clearOldActions(RECEIPTS_PER_STEP, clock.nowMs());
    cleared += step.cleared;
    return step.passed === RECEIPTS_PER_STEP;
  });
  return { cleared, left };
};

/** Until the lap is closed, or the round is over. `left`: of the lap. */
const sweepOn = async (
  sweep: (from: number) => Promise<Sweep>,
  stop: AbortSignal,
  place: SweepPlace,
): Promise<Forgotten> => {
  let removed = 0;
  let { from } = place;
  place.lap ??= { began: from, ends: 0 };
  const { lap } = place;
  // A part that fails is tried again by the next round; where it is the first of that one too, those before it go on.
  place.from = 0;
  const left = await stepByStep(stop, async () => {
    const step = await sweep(from);
    removed += step.removed;
    if (step.next === null) lap.ends += 1;
    from = step.next ?? 0;
    place.from = from;
    // A second end: the table ends before the place where the lap began.
    const goesOn = lap.ends === 0 || (lap.ends === 1 && from < lap.began);
    if (!goesOn) place.lap = null;
    return goesOn;
  });
  return { removed, left };
};

/** Takes steps until one says that there is no more: 0. Or until `stop`, or until the round is over: 1. */
const stepByStep = async (stop: AbortSignal, step: () => Promise<boolean>): Promise<number> => {
  const goesOn = roundUntil(stop);
  while (goesOn()) {
    const beganMs = performance.now();
    if (!(await step())) return 0;
    const tookMs = performance.now() - beganMs;
    await pause(Math.min(tookMs, MAX_PAUSE_MS), undefined, { signal: stop }).catch(() => {});
  }
  return 1;
};
