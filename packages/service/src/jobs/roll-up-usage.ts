/**
 * Adds up the ledger (interface §Usage): seals what is over 3 s old, then counts what is sealed and not counted yet.
 * Each step is a transaction that finds by itself what is left, so an interrupted worker loses nothing, and several
 * workers at once count nothing twice. Answers are exact whether the job runs or not; the job keeps them fast.
 */
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';

/**
 * Largest batch. On a server that is not overloaded, its transaction takes a fraction of a second, even when every
 * decision is of another Principal.
 */
const MAX_BATCH = 2_000;
/**
 * An overloaded server handles fewer decisions in the same time. A batch that does not end in time is rolled back, and
 * a batch of the same size would fail again without end.
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

/** Number of decisions counted; null when `limit` were too many for one transaction. */
const countUpTo = async ({ store }: Deps, limit: number): Promise<number | null> => {
  try {
    return await store.usage.countSealed(limit);
  } catch (error) {
    const wasBegun = error instanceof StoreError && error.kind !== 'unavailable';
    if (wasBegun && limit > MIN_BATCH) return null;
    throw error;
  }
};

/** Seals the ledger. False: there is more to seal. A decision that is slow to commit is sealed in the next round. */
export const sealLedger = async ({ store, clock }: Deps): Promise<boolean> => {
  try {
    return await store.usage.seal(clock.nowMs());
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lock_timeout') return true;
    throw error;
  }
};
