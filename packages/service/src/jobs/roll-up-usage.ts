/**
 * Adds up the ledger (interface §Usage): seals what is over 3 s old, then counts what is sealed and not counted yet. Each
 * step is a transaction that knows by itself what is left, so a worker that is cut off anywhere loses nothing, and
 * several at once count nothing twice. Answers are exact whether it runs or not; it keeps them fast.
 */
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';

/** A transaction of a fraction of a second, also where every decision is of another Principal. */
const BATCH = 2_000;

type Deps = Pick<ServiceDeps, 'store' | 'clock'>;

export interface RolledUp {
  readonly counted: number;
}

/** Begins no further step once `stop` is aborted. Rejects when storage cannot be asked. */
export const rollUpUsage = async (deps: Deps, stop: AbortSignal): Promise<RolledUp> => {
  let counted = 0;
  for (;;) {
    const isSealed = await sealLedger(deps);
    for (let batch = BATCH; batch > 0 && !stop.aborted; counted += batch)
      batch = await deps.store.usage.countSealed(BATCH);
    if (isSealed || stop.aborted) return { counted };
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
