/**
 * Packed days leave the ledger in two steps. First their partition is detached; from then on they are read from their
 * objects. After a grace period the detached partition is removed. Before each step the day is proven from the store
 * again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Day, type DayPlace, messageOf, type ServiceDeps, StoreError } from '@svc/service';
import { assertOfDay, type ProveDeps, proveDay } from './prove-day.ts';
import { isSureOfStore } from './same-store.ts';

export interface LeaveDeps extends ProveDeps, Pick<ServiceDeps, 'clock' | 'holds'> {
  /** Days for which a day is kept beside the ledger after it has left. */
  readonly graceDays: number;
  /** Mean pause between two attempts to get a lock of the ledger; each pause is half to one and a half of it. */
  readonly lockPauseMs?: number;
}

/**
 * To be called before steps that cannot be undone. Rejects with `SERVICE_UNAVAILABLE` while something holds decisions.
 */
export const assertSure = async ({ clock, holds }: Pick<LeaveDeps, 'clock' | 'holds'>): Promise<void> => {
  await clock.resync();
  holds.assertNone();
};

/** Maximum number of days in one round. */
export const MAX_DAYS = 1_000;
/** Small enough that a step takes a fraction of a second. */
const RECEIPTS_PER_STEP = 20_000;

export interface LeftDays {
  /** Number of days that are read from their objects from now on. */
  readonly detached: number;
  /** Number of days that are no longer in the database. */
  readonly dropped: number;
  /**
   * The first day that could not leave because a reader holds its table; it and those after it wait for the next round.
   */
  readonly locked: Day | null;
  /** Days whose objects in the store are not as they were packed: they stay where they are, and the others go on. */
  readonly notProven: readonly Day[];
}

/** Rejects if the object store or the database does not answer. */
export const leaveDays = async (deps: LeaveDeps, stop: AbortSignal): Promise<LeftDays> => {
  const leaving = await detachDays(deps, stop);
  const over = await dropDays(deps, stop);
  return {
    ...{ detached: leaving.detached, dropped: over.dropped, locked: leaving.locked ?? over.locked },
    notProven: [...leaving.notProven, ...over.notProven],
  };
};

/** Days whose objects are missing or do not match what was published. */
export class NotProvenError extends Error {
  override readonly name = 'NotProvenError';
  constructor(readonly days: readonly Day[]) {
    super(`${days.length} packed days were not proven, the first is ${days[0]}`);
  }
}

export const isProven = async (
  deps: LeaveDeps,
  day: Day,
  notProven: Day[],
  stop: AbortSignal,
  options?: Parameters<typeof proveDay>[3],
): Promise<boolean> => {
  await assertSure(deps);
  const problem = await proveDay(deps, day, stop, options);
  if (problem !== null) {
    notProven.push(day);
    // The proof itself notes nothing about a day that was brought back.
    await deps.store.coldDays.noteFailure(day, problem);
  }
  return problem === null && !stop.aborted;
};

/**
 * Runs `work` on a day. If only this day fails, the day stays as it is and is listed with what could not be done, and
 * the others go on.
 */
export const onDay = async <T>(
  deps: LeaveDeps,
  [day, what]: readonly [day: Day, what: string],
  notProven: Day[],
  stop: AbortSignal,
  work: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    await assertOfDay(deps, error, stop);
    const problem = `${what}: ${messageOf(error)}`;
    deps.log.error('cold.not_proven', { day, problem });
    await deps.store.coldDays.noteFailure(day, problem);
    notProven.push(day);
    return null;
  }
};

/**
 * Runs `work`. True also if it fails but `isDone`: the statement was committed, by this node or another, and only the
 * answer was lost.
 */
export const until = async <T>(isDone: () => Promise<boolean>, work: () => Promise<T>): Promise<T | true> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || !(await isDone().catch(() => false))) throw error;
    return true;
  }
};

const isAt =
  ({ store }: Pick<LeaveDeps, 'store'>, day: Day, place: Exclude<DayPlace, 'ledger'>) =>
  async (): Promise<boolean> =>
    (await store.coldDays.findPlace(day)) === place;

const NOT_LEFT = 'it could not leave';

const detachDays = async (deps: LeaveDeps, stop: AbortSignal): Promise<Omit<LeftDays, 'dropped'>> => {
  const { coldDays } = deps.store;
  const notProven: Day[] = [];
  let detached = 0;
  let locked: Day | null = null;
  for (const day of await coldDays.listToDetach(MAX_DAYS, deps.clock.nowMs())) {
    if (stop.aborted) break;
    if (!(await isProven(deps, day, notProven, stop))) continue;
    const outcome = await onDay(deps, [day, NOT_LEFT], notProven, stop, async () => {
      while (!stop.aborted && !(await coldDays.keepVerifiers(day, RECEIPTS_PER_STEP)));
      return (await isSureOfStore(deps, stop))
        ? until(isAt(deps, day, 'kept'), () => unlessLocked(deps, day, ATTEMPTS, () => coldDays.detach(day)))
        : false;
    });
    // The session that holds the lock holds it for the next day too.
    if (outcome === 'locked') locked = day;
    if (locked !== null) break;
    if (outcome) detached += 1;
  }
  return { detached, locked, notProven };
};

/** Only an owner of the schema can remove days; any other role logs a warning. */
export const dropDays = async (deps: LeaveDeps, stop: AbortSignal): Promise<Omit<LeftDays, 'detached'>> => {
  const { clock, graceDays, log, store } = deps;
  const nowMs = clock.nowMs();
  const days = stop.aborted ? [] : await store.coldDays.listToDrop(graceDays, nowMs, MAX_DAYS);
  const [first] = days;
  const notProven: Day[] = [];
  let dropped = 0;
  let locked: Day | null = null;
  if (first !== undefined && !(await store.coldDays.mayDrop())) {
    log.warn('cold.not_dropped', { days: days.length, first });
    return { dropped, locked, notProven };
  }
  for (const day of days) {
    if (stop.aborted) break;
    if (!(await isProven(deps, day, notProven, stop, { isCopied: true }))) continue;
    const drop = () => store.coldDays.drop(day, graceDays, nowMs);
    // The statement itself waits for two seconds.
    const outcome = await onDay(deps, [day, NOT_LEFT], notProven, stop, async () =>
      (await isSureOfStore(deps, stop))
        ? until(isAt(deps, day, 'objects'), () => unlessLocked(deps, day, 1, drop))
        : false,
    );
    if (outcome === 'locked') locked = day;
    if (locked !== null) break;
    if (outcome) dropped += 1;
  }
  return { dropped, locked, notProven };
};

const ATTEMPTS = 20;
const PAUSE_MS = 250;

/**
 * Moves a day out with several short attempts, so that other users of its tables are not blocked. `locked`: it is left
 * to the next round.
 */
const unlessLocked = async (
  { log, store, lockPauseMs = PAUSE_MS }: LeaveDeps,
  day: Day,
  attempts: number,
  leave: () => Promise<boolean>,
): Promise<boolean | 'locked'> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await leave();
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'lock_timeout') throw error;
      if (attempt === attempts) {
        log.warn('cold.locked', { day, holders: await store.coldDays.listHolders(day) });
        return 'locked';
      }
      await pause(lockPauseMs * (0.5 + Math.random()));
    }
};
