/**
 * Adds up the ledger (interface §Usage): seals what is over 3 s old, then counts what is sealed and not counted yet. Each
 * step is a transaction that knows by itself what is left, so a worker that is cut off anywhere loses nothing, and
 * several at once count nothing twice. Answers are exact whether it runs or not; it keeps them fast.
 */
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';

/** A transaction of a fraction of a second, also where every decision is of another Principal, on a server that has time. */
const MAX_BATCH = 2_000;
/**
 * One that is short of time takes fewer in the same time; what it does not end in time is undone, and would be begun
 * again without end.
 */
const FIRST_BATCH = 250;
const MIN_BATCH = 25;

type Deps = Pick<ServiceDeps, 'store' | 'clock'>;

export interface RolledUp {
  readonly counted: number;
}

/** Begins no further step once `stop` is aborted. Rejects when storage cannot be asked. */
export const rollUpUsage = async (deps: Deps, stop: AbortSignal): Promise<RolledUp> => {
  let counted = 0;
  for (;;) {
    const isSealed = await sealLedger(deps);
    for (let limit = FIRST_BATCH; !stop.aborted; ) {
      const batch = await countUpTo(deps, limit);
      counted += batch ?? 0;
      if (batch === 0) break;
      limit = batch === null ? Math.ceil(limit / 2) : Math.min(MAX_BATCH, limit * 2);
    }
    if (isSealed || stop.aborted) return { counted };
  }
};

/** How many were counted; null: `limit` were too many for one transaction. */
const countUpTo = async ({ store }: Deps, limit: number): Promise<number | null> => {
  try {
    return await store.usage.countSealed(limit);
  } catch (error) {
    const wasBegun = error instanceof StoreError && error.kind !== 'unavailable';
    if (wasBegun && limit > MIN_BATCH) return null;
    throw error;
  }
};

/** False: there is more to seal. A decision that takes its time is waited for in the next round. */
export const sealLedger = async ({ store, clock }: Deps): Promise<boolean> => {
  try {
    return await store.usage.seal(clock.nowMs());
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lock_timeout') return true;
    throw error;
  }
};
