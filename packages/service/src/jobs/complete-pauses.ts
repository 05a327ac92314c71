/**
 * Completes pauses, and their ends, that were recorded by a node which ended before it knew them visible (protocol §9). What is
 * paused denies already; what is missing is the time, which only a repeated call would bring otherwise.
 */
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { completePause } from '../pauses/set-pause.ts';
import { ABANDONED_AFTER_SECONDS } from './complete-revocations.ts';
import { roundUntil } from './round.ts';

const BATCH = 1_000;

/** Answers how many it completed, in a minute at most. Rejects when storage cannot list. What is not visible in time waits for the next round. */
export const completePauses = async (deps: ServiceDeps, stop: AbortSignal): Promise<number> => {
  const goesOn = roundUntil(stop);
  let completed = 0;
  for (const record of await deps.store.pauses.listUnstamped(ABANDONED_AFTER_SECONDS, BATCH)) {
    if (!goesOn()) break;
    try {
      await completePause(deps, record);
      completed += 1;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { scope, subject } = record;
      deps.log.warn('pause.not_noted', { scope, subject, error: error.detail ?? error.message });
    }
  }
  return completed;
};
