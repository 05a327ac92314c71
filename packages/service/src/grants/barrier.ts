/**
 * The second phase of everything that takes effect like a revocation (protocol §9). The first phase has committed what
 * denies; the barrier waits for the decisions that were judged before it. When it has passed, no ALLOW resting on the
 * old state will be committed any more, and none is dated after the instant that it answers.
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { StoreError } from '../ports/store.ts';

/** The instant in ms. `SERVICE_UNAVAILABLE`: recorded, not yet known to be visible; repeat the call. */
export const passBarrier = (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  principal: DidWeb,
): Promise<number> => orNotYetVisible(store.revocation.passBarrier(principal, clock.nowMs()));

/** The same where it is about the Grants of many Principals, on whose behalf `exclusiveKey` waits. */
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

/** What a caller hears when the first phase is committed, and the list is not signed or the second phase did not get through. */
export const notYetVisible = (cause: StoreError | ServiceError): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The change is recorded but not yet visible everywhere. Repeat the call.',
    { cause, detail: cause instanceof ServiceError ? (cause.detail ?? cause.message) : cause.message },
  );
