/**
 * Completes revocations whose node ended between recording them and stamping them, or whose list could not be signed (protocol
 * §9). They deny already; what is missing is the list, the barrier and the time, which only somebody's repeated call would
 * bring otherwise.
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { publishRevoked } from '../grants/publish-revoked.ts';
import type { UnstampedGrant } from '../ports/grants.ts';
import { StoreError } from '../ports/store.ts';

/** A revoker that is still at work takes less. */
export const ABANDONED_AFTER_SECONDS = 10;
const BATCH = 1_000;
const ROUND_MS = 60_000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity' | 'log'>;

export interface CompletedRevocations {
  readonly stamped: number;
}

/**
 * Rejects when storage cannot list. Each Principal has a turn of at most 1,000 Grants before any has a second. One whose
 * barrier is not passed in time waits for the next round, as does what is left after a minute.
 */
export const completeRevocations = async (deps: Deps, stop: AbortSignal): Promise<CompletedRevocations> => {
  const endsMs = performance.now() + ROUND_MS;
  const goesOn = () => !stop.aborted && performance.now() < endsMs;
  const failed = new Set<DidWeb>();
  let stamped = 0;
  /** Answers whether more may be left. */
  const completeBatch = async (except: ReadonlySet<DidWeb>, had: Set<DidWeb>): Promise<boolean> => {
    const found = await deps.store.grants.listUnstamped(ABANDONED_AFTER_SECONDS, BATCH, [...except]);
    for (const [principal, grants] of byPrincipal(found)) {
      if (!goesOn()) break;
      const stampedNow = await complete(deps, principal, grants);
      stamped += stampedNow;
      had.add(principal);
      if (stampedNow === 0) failed.add(principal);
    }
    return found.length === BATCH;
  };
  const had = new Set<DidWeb>();
  let isMore = false;
  while (goesOn() && (await completeBatch(had, had))) isMore = true;
  // Without turns: to pass over those who have many each time would cost more than to stamp them.
  while (isMore && goesOn() && (await completeBatch(failed, had)));
  return { stamped };
};

const byPrincipal = (found: readonly UnstampedGrant[]): Map<DidWeb, UnstampedGrant[]> => {
  const groups = new Map<DidWeb, UnstampedGrant[]>();
  for (const grant of found) {
    const grants = groups.get(grant.principal);
    if (grants === undefined) groups.set(grant.principal, [grant]);
    else grants.push(grant);
  }
  return groups;
};

/** Answers how many are stamped now. */
const complete = async (
  deps: Deps,
  principal: DidWeb,
  grants: readonly UnstampedGrant[],
): Promise<number> => {
  const { store, clock, log } = deps;
  const ids = grants.map(({ id }) => id);
  try {
    const problem = await publishRevoked(deps, principal, grants);
    if (problem === null) return (await store.revocation.stampRevoked(principal, ids, clock.nowMs())).size;
    const error = problem instanceof StoreError ? problem.message : (problem.detail ?? problem.message);
    log.warn('revocation.not_completed', { principal, grants: ids.length, error });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn('revocation.not_completed', { principal, grants: ids.length, error: error.message });
  }
  return 0;
};
