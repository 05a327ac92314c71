/**
 * Readers find missing or altered objects of cold days long before the monthly proof does. The day is noted, so that a
 * metric and `/readyz` name it and the worker proves it next.
 */
import { assertSameStore } from '@svc/cold-ledger';
import type { Sha256 } from '@svc/protocol';
import { type Day, messageOf, type ObjectStore, type ServiceDeps } from '@svc/service';

interface NoteDeps {
  readonly objects: Pick<ObjectStore, 'head'>;
  readonly store: {
    readonly coldDays: Pick<ServiceDeps['store']['coldDays'], 'listLatestManifests' | 'noteUnread'>;
  };
  readonly log: Pick<ServiceDeps['log'], 'error' | 'warn'>;
  readonly nowMs?: () => number;
}

/** Milliseconds between two notes about one day by this process, since every reader of the day finds the same fault. */
const EVERY_MS = 600_000;
const NOTING_MS = 30_000;

/**
 * Returns the function that notes a day in the background. It notes nothing if this process has another store than the
 * one that days were packed into.
 */
export const damageNoter = ({ objects, store, log, nowMs = () => performance.now() }: NoteDeps) => {
  const notedAtMs = new Map<Day, number>();
  const note = async (day: Day, manifestHash: Sha256, problem: string): Promise<void> => {
    try {
      await assertSameStore({ objects, store }, AbortSignal.timeout(NOTING_MS));
      log.error('cold.damaged', { day, problem });
      await store.coldDays.noteUnread(day, manifestHash, `a reader found: ${problem}`);
    } catch (error) {
      log.warn('cold.not_noted', { day, problem, error: messageOf(error) });
    }
  };
  return (day: Day, manifestHash: Sha256, problem: string): void => {
    const now = nowMs();
    if (now - (notedAtMs.get(day) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    notedAtMs.set(day, now);
    void note(day, manifestHash, problem);
  };
};
