/**
 * Deletes documents and status lists that no Receipt names and that were not served to anybody (protocol §8). Otherwise
 * a tenant that changes a document or revokes all day would fill the storage. First the job reads the Receipts for the
 * hashes that they name; then it deletes what has not been needed for an hour. An interruption at any point leaves too
 * much, and loses nothing.
 */
import type { ServiceDeps } from '../deps.ts';
import { sealLedger } from './roll-up-usage.ts';

/** Sizes of steps that take a fraction of a second. */
const RECEIPTS_PER_STEP = 2_000;
const ARTIFACTS_PER_STEP = 500;

export interface CollectedEvidence {
  readonly collected: number;
}

/** Begins no further step once `stop` is aborted. Rejects when storage cannot be asked. */
export const collectEvidence = async (
  deps: Pick<ServiceDeps, 'store' | 'clock'>,
  stop: AbortSignal,
): Promise<CollectedEvidence> => {
  const { evidence } = deps.store;
  await sealLedger(deps);
  while (!stop.aborted && (await evidence.nameFromReceipts(RECEIPTS_PER_STEP)) > 0);
  let collected = 0;
  for (let step = ARTIFACTS_PER_STEP; step === ARTIFACTS_PER_STEP && !stop.aborted; collected += step)
    step = await evidence.collect(ARTIFACTS_PER_STEP, deps.clock.nowMs());
  return { collected };
};
