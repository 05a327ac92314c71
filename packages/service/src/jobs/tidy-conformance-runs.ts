/**
 * Ends conformance runs that were interrupted, and deletes those that are old enough. Runners end interrupted runs too;
 * this job does so where no runner is deployed.
 */
import type { ServiceDeps } from '../deps.ts';

const STEP = 100;

export const tidyConformanceRuns = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  stop: AbortSignal,
): Promise<{ readonly interrupted: number; readonly removed: number }> => {
  const interrupted = await store.conformanceRuns.endInterrupted(clock.nowMs());
  let removed = 0;
  for (let step = STEP; step === STEP && !stop.aborted; removed += step)
    step = await store.conformanceRuns.removeOld(STEP, clock.nowMs());
  return { interrupted, removed };
};
