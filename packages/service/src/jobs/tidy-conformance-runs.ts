/**
 * Runs that no runner will end, and runs that have served their time. Runners end what was interrupted too; here it
 * happens where none runs.
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
