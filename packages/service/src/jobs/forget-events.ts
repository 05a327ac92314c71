/** Events and what became of them are kept for 30 days (protocol §15), in steps that are small whatever the backlog. */
import type { ServiceDeps } from '../deps.ts';
import { VerifierTurns } from '../events/tell-verifiers.ts';

const KEPT_DAYS = 30;
const PER_STEP = 1_000;
const ROUND_MS = 60_000;

export const forgetEvents = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  stop: AbortSignal,
): Promise<{ readonly removed: number }> => {
  const endsMs = performance.now() + ROUND_MS;
  const goesOn = () => !stop.aborted && performance.now() < endsMs;
  // Where nothing delivers, nothing else moves them into the log, where they grow old.
  while (goesOn() && (await store.eventLog.sequence(PER_STEP)) >= PER_STEP);
  let removed = 0;
  while (goesOn()) {
    const step = await store.eventLog.forget(PER_STEP, KEPT_DAYS, clock.nowMs());
    removed += step;
    if (step < PER_STEP) break;
  }
  // Nor does anything else tell those who have verified what was revoked. Last: nothing that is forgotten waits for it.
  const turns = new VerifierTurns(store.revocationNotices);
  while (goesOn() && (await turns.tellNext()));
  return { removed };
};
