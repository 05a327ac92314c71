/**
 * Days that are packed leave the ledger: first their partition is detached, and they are read from their objects; what was detached is
 * removed after a time. Before each of the two the day is proven from the store again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Day, type ObjectStore, ObjectStoreError, type ServiceDeps, StoreError } from '@svc/service';
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

/**
 * A day that is not in the store as it was packed stays where it is, and the others go on; rejects at the end. Rejects at once where
 * the store of objects does not answer, or the database fails.
 */
export const leaveDays = async (
  deps: Deps,
  stop: AbortSignal,
): Promise<{ readonly detached: number; readonly dropped: number }> => {
  const notProven: Day[] = [];
  const prove = async (day: Day): Promise<boolean> => {
    const problem = await problemOf(deps, day, stop);
    if (problem !== null) notProven.push(day);
    return problem === null && !stop.aborted;
  };
  const detached = await detachDays(deps, prove, stop);
  const dropped = await dropDays(deps, prove, stop);
  if (notProven.length > 0) throw new NotProvenError(notProven);
  return { detached, dropped };
};

/** Days whose objects do not lead to what was published, or are not there. */
export class NotProvenError extends Error {
  override readonly name = 'NotProvenError';
  constructor(readonly days: readonly Day[]) {
    super(`${days.length} packed days were not proven, the first is ${days[0]}`);
  }
}

type Prove = (day: Day) => Promise<boolean>;

const detachDays = async (deps: Deps, prove: Prove, stop: AbortSignal): Promise<number> => {
  const { coldDays } = deps.store;
  let count = 0;
  for (const day of await coldDays.listToDetach(MOST_DAYS)) {
    if (stop.aborted) break;
    if (!(await prove(day))) continue;
    while (!stop.aborted && !(await coldDays.keepVerifiers(day, RECEIPTS_PER_STEP)));
    if (stop.aborted) break;
    const outcome = await detach(deps, day);
    // Whatever holds the lock holds it for the next day too.
    if (outcome === 'locked') break;
    if (outcome) count += 1;
  }
  return count;
};

const dropDays = async ({ clock, graceDays, log, store }: Deps, prove: Prove, stop: AbortSignal) => {
  const nowMs = clock.nowMs();
  const days = stop.aborted ? [] : await store.coldDays.listToDrop(graceDays, nowMs, MOST_DAYS);
  const [first] = days;
  if (first !== undefined && !(await store.coldDays.mayDrop())) {
    log.warn('cold.not_dropped', { days: days.length, first });
    return 0;
  }
  let count = 0;
  for (const day of days) {
    if (stop.aborted) break;
    if ((await prove(day)) && (await store.coldDays.drop(day, graceDays, nowMs))) count += 1;
  }
  return count;
};

/** What differs from what was published; null: nothing, or stopped. Rejects where that cannot be told. */
const problemOf = async (deps: Deps, day: Day, stop: AbortSignal): Promise<string | null> => {
  const { log, objects, store } = deps;
  await assertSure(deps);
  const [recorded, published] = await Promise.all([
    store.coldDays.findManifest(day),
    store.checkpoints.find(day),
  ]);
  if (recorded === null || published === null) throw new Error(`${day} has no manifest or no checkpoint`);
  let problem: string | null = null;
  try {
    const found = await proveReceipts(objects, parseColdDay(recorded.manifest).tables, stop);
    if (found.root !== published.root || found.contentRoot !== published.contentRoot)
      problem = 'its objects do not lead to its roots';
  } catch (error) {
    if (stop.aborted) return null;
    problem = error instanceof Error ? error.message : String(error);
    if (error instanceof ObjectStoreError && error.kind === 'unavailable') {
      log.error('cold.not_proven', { day, problem });
      throw error;
    }
  }
  if (problem !== null) log.error('cold.not_proven', { day, problem });
  await store.coldDays.noteProof(day, problem);
  return problem;
};

const ATTEMPTS = 20;
const PAUSE_MS = 250;

/** Whoever reads the ledger or writes to it is not kept waiting: it is tried again. `locked`: left to the next round. */
const detach = async ({ store }: Deps, day: Day): Promise<boolean | 'locked'> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await store.coldDays.detach(day);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'lock_timeout') throw error;
      if (attempt === ATTEMPTS) return 'locked';
      await pause(PAUSE_MS * (0.5 + Math.random()));
    }
};
