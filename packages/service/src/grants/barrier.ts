/**
 * The second phase of every change that takes effect like a revocation (protocol §9). The first phase has committed the
 * state that denies; the barrier waits for the decisions that were evaluated before it. Once the barrier has passed, no
 * ALLOW based on the old state will be committed, and none is dated after the instant that the barrier returns.
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { StoreError } from '../ports/store.ts';

/** The instant in milliseconds. `SERVICE_UNAVAILABLE`: recorded, but not yet known to be visible; repeat the call. */
export const passBarrier = (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  principal: DidWeb,
): Promise<number> => orNotYetVisible(store.revocation.passBarrier(principal, clock.nowMs()));

/** The same for a change that concerns the Grants of many Principals. The wait goes under `exclusiveKey`. */
export const awaitCommits = (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  exclusiveKey: string,
): Promise<number> => orNotYetVisible(store.revocation.awaitCommits(exclusiveKey, clock.nowMs()));

const orNotYetVisible = async (barrier: Promise<number>): Promise<number> => {
  try {
    return await barrier;
  } catch (error) {
    throw error instanceof StoreError ? notYetVisible(error) : error;
  }
};

/** The error when the first phase is committed, but the list is not signed or the second phase failed. */
export const notYetVisible = (cause: StoreError | ServiceError): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The change is recorded but not yet visible everywhere. Repeat the call.',
    { cause, detail: cause instanceof ServiceError ? (cause.detail ?? cause.message) : cause.message },
  );
