/** What a start needs of the database: it may take longer than an answer may. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@svc/service';

const FOR_MS = 15_000;
const PAUSE_MS = 100;

/** Whatever a start does may be done again: it could have been killed after any part of it. */
const isPassing = (error: unknown): boolean =>
  error instanceof StoreError && (error.kind === 'unavailable' || error.kind === 'ambiguous');

/**
 * Again while the database cannot be had: where many processes start at once no connection may be open within the 400
 * ms that a caller would wait for one. Rejects at once with anything else.
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
