/**
 * Claims conformance runs from the database, a few at a time, until stopped. Any number of runners may run: each run is
 * claimed by one of them, once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock, ConformanceRunRepository, VectorSetName } from '@svc/service';
import { type RanRun, type RunDeps, runTaken } from './run-taken.ts';

export interface RunnerDeps extends Omit<RunDeps, 'runs'> {
  readonly runs: Pick<ConformanceRunRepository, 'take' | 'prolong' | 'finish' | 'endInterrupted'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly onTaken: (runId: string, endpointHost: string) => void;
  readonly onRan: (ran: RanRun) => void;
  readonly onInterrupted: (runs: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface ConformanceRunner {
  /** Claims no more runs; those in progress end as interrupted. */
  stop(): Promise<void>;
}

/** Each run holds at most 4 MiB of an answer and parses it on the main thread. */
const AT_A_TIME = 4;
const LOOKS_EVERY_MS = 1_000;
const AFTER_FAILURE_MS = 5_000;

export const startConformanceRunner = (deps: RunnerDeps): ConformanceRunner => {
  const stopping = new AbortController();
  const places = Array.from({ length: AT_A_TIME }, (_, place) => work(deps, place === 0, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(places);
    },
  };
};

/** Executes waiting runs one after another until there are none. Rejects on a storage failure. */
export const runWaiting = async (deps: RunnerDeps, stop: AbortSignal): Promise<void> => {
  await endInterrupted(deps);
  while (!stop.aborted && (await runNext(deps, stop)));
};

const work = async (deps: RunnerDeps, isFirst: boolean, stop: AbortSignal): Promise<void> => {
  while (!stop.aborted) {
    let pauseMs = LOOKS_EVERY_MS;
    try {
      if (isFirst) await endInterrupted(deps);
      if (await runNext(deps, stop)) continue;
    } catch (error) {
      deps.onFailure(error);
      pauseMs = AFTER_FAILURE_MS;
    }
    await pause(pauseMs, undefined, { signal: stop }).catch(() => {});
  }
};

/** False if no run is waiting. */
const runNext = async (deps: RunnerDeps, stop: AbortSignal): Promise<boolean> => {
  const run = await deps.runs.take(randomUUID(), nameOf(deps));
  if (run === null) return false;
  // The rest of the URL may contain a secret.
  deps.onTaken(run.runId, new URL(run.endpoint).host);
  deps.onRan(await runTaken(deps, run, stop));
  return true;
};

const endInterrupted = async ({ runs, clock, onInterrupted }: RunnerDeps): Promise<void> => {
  const ended = await runs.endInterrupted(clock.nowMs());
  if (ended > 0) onInterrupted(ended);
};

const nameOf = ({ vectors }: RunnerDeps): VectorSetName => ({
  sha256: vectors.sha256 as VectorSetName['sha256'],
  conformanceVersion: vectors.conformanceVersion,
});
