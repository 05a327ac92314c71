/**
 * Documents and status lists that no Receipt names and nobody was served are not kept (protocol §8): whoever changes a
 * document or revokes all day would fill the storage otherwise. First the Receipts are read for what they name, then what
 * has been of no use for an hour is removed. Cut off anywhere, too much is kept and nothing lost.
 */
import type { ServiceDeps } from '../deps.ts';
import { sealLedger } from './roll-up-usage.ts';

/** Steps of a fraction of a second. */
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
