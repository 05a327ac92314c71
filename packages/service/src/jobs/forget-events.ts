/** Events and what became of them are kept for 30 days (protocol §15), in steps that are small whatever the backlog. */
import type { ServiceDeps } from '../deps.ts';

const KEPT_DAYS = 30;
const PER_STEP = 1_000;
const ROUND_MS = 60_000;

export const forgetEvents = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  stop: AbortSignal,
): Promise<{ readonly removed: number }> => {
  const endsMs = performance.now() + ROUND_MS;
  let removed = 0;
  while (!stop.aborted && performance.now() < endsMs) {
    const step = await store.events.forget(PER_STEP, KEPT_DAYS, clock.nowMs());
    removed += step;
    if (step < PER_STEP) break;
  }
  return { removed };
};
