/**
 * Deletes what is kept for a limited time (interface §Limits): spent Proofs and idempotency keys, and the action fields
 * of old Receipts. The work is done in small steps. Each step is its own transaction, followed by a pause of the same
 * duration, so that decisions keep at least half of the database. A round ends after a minute; the next round goes on
 * from there, and a later one finds what was interrupted.
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
  /** 1 when the round ended before all was done, else 0. */
  readonly left: number;
}

/** The position of a sweep; each round changes it. */
export interface SweepPlace {
  /** Where the next round begins, as in `Sweep.next`; 0 for the start. */
  from: number;
  /**
   * One lap around the table, over as many rounds as it takes: where it began, and how often it has reached the end.
   * Null: no lap is under way.
   */
  lap: { readonly began: number; ends: number } | null;
}

/** A random position in a table. A process without a stored position begins there, because it may do only one round. */
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

/** Sweeps until the lap is complete or the round ends. `left`: 1 when part of the lap is left, else 0. */
const sweepOn = async (
  sweep: (from: number) => Promise<Sweep>,
  stop: AbortSignal,
  place: SweepPlace,
): Promise<Forgotten> => {
  let removed = 0;
  let { from } = place;
  place.lap ??= { began: from, ends: 0 };
  const { lap } = place;
  // If a part fails, the next round begins with this part. If the part fails there too, the round after begins at the
  // start of the table. So a part that always fails does not keep the parts before it from being swept.
  place.from = 0;
  const left = await stepByStep(stop, async () => {
    const step = await sweep(from);
    removed += step.removed;
    if (step.next === null) lap.ends += 1;
    from = step.next ?? 0;
    place.from = from;
    // Two ends in one lap: the table now ends before the place where the lap began.
    const goesOn = lap.ends === 0 || (lap.ends === 1 && from < lap.began);
    if (!goesOn) place.lap = null;
    return goesOn;
  });
  return { removed, left };
};

/** Takes steps until one returns false (result 0), or until `stop` is aborted or the round ends (result 1). */
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
