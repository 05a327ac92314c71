/**
 * Days that are packed leave the ledger: first their partition is detached, and they are read from their objects; what was detached is
 * removed after a time. Before each of the two the day is proven from the store again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Day, type ObjectStore, type ServiceDeps, StoreError } from '@svc/service';
import { parseColdDay } from './manifest.ts';
import { proveReceipts } from './pack-tables.ts';

interface Deps extends Pick<ServiceDeps, 'clock' | 'holds' | 'log'> {
  readonly store: Pick<ServiceDeps['store'], 'coldDays' | 'checkpoints'>;
  readonly objects: ObjectStore;
  readonly graceDays: number;
}

/** What is done below could not be undone. Rejects with `SERVICE_UNAVAILABLE` while something holds decisions. */
export const assertSure = async ({ clock, holds }: Pick<Deps, 'clock' | 'holds'>): Promise<void> => {
  await clock.resync();
  holds.assertNone();
};

/** In one round. */
const MOST_DAYS = 1_000;
/** Steps of a fraction of a second. */
const RECEIPTS_PER_STEP = 20_000;

/** Rejects where a day is not in the store as it was packed: it stays where it is. */
export const leaveDays = async (
  deps: Deps,
  stop: AbortSignal,
): Promise<{ readonly detached: number; readonly dropped: number }> => {
  const { clock, graceDays, store } = deps;
  const count = { detached: 0, dropped: 0 };
  for (const day of await store.coldDays.listToDetach(MOST_DAYS)) {
    if (stop.aborted || !(await isProven(deps, day, stop))) break;
    while (!stop.aborted && !(await store.coldDays.keepVerifiers(day, RECEIPTS_PER_STEP)));
    if (!stop.aborted && (await detach(deps, day))) count.detached += 1;
  }
  const nowMs = clock.nowMs();
  for (const day of stop.aborted ? [] : await store.coldDays.listToDrop(graceDays, nowMs, MOST_DAYS)) {
    if (stop.aborted || !(await isProven(deps, day, stop))) break;
    if (await store.coldDays.drop(day, graceDays, nowMs)) count.dropped += 1;
  }
  return count;
};

/** False: stopped. Rejects where the objects do not lead to what was published. */
const isProven = async (deps: Deps, day: Day, stop: AbortSignal): Promise<boolean> => {
  const { log, objects, store } = deps;
  await assertSure(deps);
  const [recorded, published] = await Promise.all([
    store.coldDays.findManifest(day),
    store.checkpoints.find(day),
  ]);
  if (recorded === null || published === null) throw new Error(`${day} has no manifest or no checkpoint`);
  try {
    const found = await proveReceipts(objects, parseColdDay(recorded.manifest).tables, stop);
    if (found.root === published.root && found.contentRoot === published.contentRoot) return true;
    throw new Error('its objects do not lead to its roots');
  } catch (error) {
    if (stop.aborted) return false;
    const problem = error instanceof Error ? error.message : String(error);
    log.error('cold.not_proven', { day, problem });
    throw error;
  }
};

const ATTEMPTS = 20;
const PAUSE_MS = 250;

/** Whoever reads the ledger or writes to it is not kept waiting: it is tried again. False: left to the next round. */
const detach = async ({ store }: Deps, day: Day): Promise<boolean> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await store.coldDays.detach(day);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'lock_timeout') throw error;
      if (attempt === ATTEMPTS) return false;
      await pause(PAUSE_MS * (0.5 + Math.random()));
    }
};
