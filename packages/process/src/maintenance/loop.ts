/**
 * Periodic jobs. Each has its own loop: a round, then a pause with jitter, which desynchronises the nodes of a
 * deployment. A round holds the job's lock, so that one node at a time works on it. A job derives its work from the
 * stored state, so the next round makes up for a missed or interrupted one.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, type Hold, type Holds, type Store, traced, withinMs } from '@svc/service';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** True: the job takes authority away or only reads, so it runs whatever holds decisions. */
  readonly evenHeld?: boolean;
  /** True: the job runs while a restore settles, so that lost records are known again when decisions begin. */
  readonly evenSettling?: boolean;
  /** Names of the numbers in the result of `run` for which there is an alert. */
  readonly alarmingItems?: readonly string[];
  /**
   * Idempotent, since the loss of the lock is not noticed at once. Once `stop` is aborted it begins no more work and
   * resolves within a few seconds. Resolves with numbers for the log; if `left` is above 0, the next round follows
   * soon.
   */
  run(stop: AbortSignal): Promise<Readonly<Record<string, number>>>;
}

/**
 * `elsewhere`: another node runs this job. `held`: the job's effects could not be undone, and something holds
 * decisions.
 */
export type Round = { readonly job: string } & (
  | {
      readonly outcome: 'done';
      readonly durationMs: number;
      readonly result: Readonly<Record<string, number>>;
    }
  | { readonly outcome: 'elsewhere' }
  | { readonly outcome: 'held'; readonly holds: readonly Hold[] }
  | { readonly outcome: 'failed'; readonly durationMs: number; readonly error: unknown }
);

export interface Maintenance {
  /** Begins no more rounds and waits at most 8 s for those in progress. */
  stop(): Promise<void>;
}

interface RoundDeps {
  readonly store: Pick<Store, 'exclusive'>;
  readonly holds: Pick<Holds, 'list'>;
  readonly clock: Pick<Clock, 'resync'>;
}

interface LoopDeps extends RoundDeps {
  readonly report: (round: Round) => void;
}

const JITTER = 0.2;
/** Pause between the first rounds of two jobs. Each opens a connection; all at once would wait for each other. */
const STAGGER_MS = 100;
/** Pause after a round that failed, or that left work. */
const SOON_MS = 15_000;
const STOP_WITHIN_MS = 8_000;

export const startMaintenance = (deps: LoopDeps, jobs: readonly Job[]): Maintenance => {
  const stopping = new AbortController();
  // Each job adds one listener while it pauses and one while it works.
  setMaxListeners(0, stopping.signal);
  const loop = async (job: Job, index: number): Promise<void> => {
    await pauseUnless(stopping.signal, index * STAGGER_MS);
    while (!stopping.signal.aborted) {
      const round = await runRound(deps, job, stopping.signal);
      deps.report(round);
      await pauseUnless(stopping.signal, pauseMsAfter(round, job) * (1 + JITTER * (Math.random() - 0.5)));
    }
  };
  const loops = Promise.all(jobs.map(loop));
  return {
    stop: async () => {
      stopping.abort();
      await withinMs(STOP_WITHIN_MS, loops, () => {});
    },
  };
};

/** One round of one job; never rejects. */
export const runRound = async (deps: RoundDeps, job: Job, stop: AbortSignal): Promise<Round> => {
  const beganMs = performance.now();
  const lasted = () => performance.now() - beganMs;
  const held = job.evenHeld === true ? [] : await listHolds(deps, job);
  if (held.length > 0) return { job: job.name, outcome: 'held', holds: held };
  try {
    const done = await deps.store.exclusive(`job:${job.name}`, async (lost) => {
      const result = await traced(`job ${job.name}`, () => job.run(AbortSignal.any([stop, lost])));
      // The result covers only what was done until the lock was lost, so `left` may be wrong.
      if (!stop.aborted) lost.throwIfAborted();
      return result;
    });
    return done.held
      ? { job: job.name, outcome: 'done', durationMs: lasted(), result: done.value }
      : { job: job.name, outcome: 'elsewhere' };
  } catch (error) {
    return { job: job.name, outcome: 'failed', durationMs: lasted(), error };
  }
};

/** Reads the clock first, so that a step since the last reading is detected. */
const listHolds = async ({ holds, clock }: RoundDeps, job: Job): Promise<readonly Hold[]> => {
  await clock.resync();
  return holds.list().filter(({ isSettling }) => !(job.evenSettling === true && isSettling === true));
};

/** Milliseconds until the next round, without jitter. */
export const pauseMsAfter = (round: Round, { everyMs }: Pick<Job, 'everyMs'>): number => {
  const isDone = round.outcome === 'done' && (round.result.left ?? 0) === 0;
  return isDone || round.outcome === 'elsewhere' ? everyMs : Math.min(everyMs, SOON_MS);
};

/** Ends early, and without an error, when `signal` is aborted. */
const pauseUnless = async (signal: AbortSignal, ms: number): Promise<void> => {
  await pause(ms, undefined, { signal }).catch(() => {});
};
