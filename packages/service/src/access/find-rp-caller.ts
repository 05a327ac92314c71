/**
 * Decisions for a relying party without its key: in the sandbox, and for a self-serve tenant (interface §Self-serve).
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import type { Authenticator } from './authenticator.ts';
import type { RpCaller } from './caller.ts';

/**
 * The relying party as a caller with its newest live key; the decision is recorded under that key. Null when it has no
 * live key.
 */
export const findRpCaller = async (
  { store }: Pick<ServiceDeps, 'store'>,
  authenticator: Pick<Authenticator, 'readAgain'>,
  did: DidWeb,
): Promise<RpCaller | null> => {
  const live = await store.apiKeys.findNewestLive(did, 'rp');
  return live === null ? null : authenticator.readAgain(live.keyHash);
};
