/** Releases claims that were not proven in time (protocol §13), so that the DID is free again. */
import { expireClaim } from '../claims/release.ts';
import type { ServiceDeps } from '../deps.ts';
import type { ClaimKind } from '../ports/claims.ts';
import { StoreError } from '../ports/store.ts';

const BATCH = 100;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'log'>;

export interface ExpiredClaims {
  readonly released: number;
}

/** Rejects when storage cannot list. A claim that could not be released waits for the next round. */
export const expireClaims = async (deps: Deps, stop: AbortSignal): Promise<ExpiredClaims> => {
  const released = (await expireOf(deps, 'principal', stop)) + (await expireOf(deps, 'relying_party', stop));
  await deps.store.claims.forgetExpired();
  return { released };
};

const expireOf = async (deps: Deps, kind: ClaimKind, stop: AbortSignal): Promise<number> => {
  const { principals, relyingParties } = deps.store;
  const repository = kind === 'principal' ? principals : relyingParties;
  let released = 0;
  for (;;) {
    const dids = await repository.listExpiredClaims(BATCH);
    let releasedNow = 0;
    for (const did of dids) {
      if (stop.aborted) break;
      try {
        if (await expireClaim(deps, kind, did)) releasedNow += 1;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        deps.log.warn('claim.not_released', { did, kind, error: error.message });
      }
    }
    released += releasedNow;
    if (stop.aborted || dids.length < BATCH || releasedNow === 0) return released;
  }
};
