/** Deletes events and their deliveries after 30 days (protocol §15), in steps that are small whatever the backlog. */
import type { ServiceDeps } from '../deps.ts';
import { VerifierTurns } from '../events/tell-verifiers.ts';
import { StoreError } from '../ports/store.ts';
import type { Forgotten } from './retention.ts';
import { roundUntil } from './round.ts';

const KEPT_DAYS = 30;
const PER_STEP = 1_000;
const SEQUENCING_MS = 20_000;

/** Rejects when events cannot be moved into the log, after deleting what it could. */
export const forgetEvents = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  stop: AbortSignal,
): Promise<Forgotten> => {
  const goesOn = roundUntil(stop);
  // In a deployment that delivers nothing, nothing else moves events into the log, where they age.
  const outbox = await sequenceAll(store, roundUntil(stop, SEQUENCING_MS));
  let removed = 0;
  let isOld = true;
  while (isOld && goesOn()) {
    const step = await store.eventLog.forget(PER_STEP, KEPT_DAYS, clock.nowMs());
    removed += step;
    isOld = step >= PER_STEP;
  }
  // There, nothing else writes the events for relying parties that have verified a revoked Grant either. This is last,
  // because no deletion depends on it.
  const turns = new VerifierTurns(store.revocationNotices);
  let isUntold = true;
  while (isUntold && goesOn()) isUntold = await turns.tellNext();
  if (outbox.failure !== null) throw outbox.failure;
  return { removed, left: outbox.isMore || isOld || isUntold ? 1 : 0 };
};

/** `isMore`: the time ended before the outbox was empty. */
const sequenceAll = async (
  { eventLog }: Pick<ServiceDeps['store'], 'eventLog'>,
  goesOn: () => boolean,
): Promise<{ readonly isMore: boolean; readonly failure: StoreError | null }> => {
  try {
    let isMore = true;
    while (isMore && goesOn()) isMore = (await eventLog.sequence(PER_STEP)) >= PER_STEP;
    return { isMore, failure: null };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { isMore: true, failure: error };
  }
};
