import { setTimeout as pause } from 'node:timers/promises';

const DEFAULT_LIMIT_MS = 60_000;
const PAUSE_MS = 5;

/** Polls until the condition holds. Rejects after `limitMs`, and where the condition throws. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = DEFAULT_LIMIT_MS,
): Promise<void> {
  for (const endsAtMs = performance.now() + limitMs; !(await condition()); await pause(PAUSE_MS))
    if (performance.now() > endsAtMs) throw new Error(`not within ${limitMs} ms: ${condition}`);
}
