/**
 * Completes pauses, and ends of pauses, that a node recorded and did not complete because it ended first (protocol §9).
 * What is paused is denied already; what is missing is the time from which the change is visible, which otherwise only
 * a repeated call would set.
 */
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { completePause } from '../pauses/set-pause.ts';
import { ABANDONED_AFTER_SECONDS } from './complete-revocations.ts';
import { roundUntil } from './round.ts';

const BATCH = 1_000;

/**
 * Returns the number completed, within one minute. Rejects when storage cannot list. A change that does not become
 * visible in time waits for the next round.
 */
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
