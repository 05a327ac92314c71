/** Database calls of a start, which may take longer than those of an answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@svc/service';

const FOR_MS = 15_000;
const PAUSE_MS = 100;

/** Everything in a start may be repeated, since the process could have been killed after any part of it. */
const isPassing = (error: unknown): boolean =>
  error instanceof StoreError && (error.kind === 'unavailable' || error.kind === 'ambiguous');

/**
 * Repeats `work` while the database is not available: if many processes start at once, no connection may become free
 * within the 400 ms that a caller would wait for one. Rejects at once with any other error.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { forMs = FOR_MS, pauseMs = PAUSE_MS }: { readonly forMs?: number; readonly pauseMs?: number } = {},
): Promise<T> {
  const endsMs = performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() >= endsMs) throw error;
    }
    await delay(pauseMs);
  }
}
