/**
 * Completes revocations whose node ended between recording them and stamping them, or whose list could not be signed (protocol
 * §9). They deny already; what is missing is the list, the barrier and the time, which only somebody's repeated call would
 * bring otherwise.
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { publishRevoked } from '../grants/publish-revoked.ts';
import { StoreError } from '../ports/store.ts';
import { roundUntil } from './round.ts';

/** A revoker that is still at work takes less. */
export const ABANDONED_AFTER_SECONDS = 10;
const BATCH = 1_000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity' | 'log'>;

export interface CompletedRevocations {
  readonly stamped: number;
}

/**
 * Rejects when storage cannot list Principals, with what it could list done. Each Principal has a turn of at most 1,000 Grants
 * before any has a second. One whose barrier is not passed in time waits for the next round, as does what is left after a minute.
 */
export const completeRevocations = async (deps: Deps, stop: AbortSignal): Promise<CompletedRevocations> => {
  const goesOn = roundUntil(stop);
  let stamped = 0;
  /** Answers those of whom more may be left. */
  const takeTurns = async (principals: readonly DidWeb[]): Promise<DidWeb[]> => {
    const more: DidWeb[] = [];
    for (const principal of principals) {
      if (!goesOn()) break;
      const turn = await completeSome(deps, principal);
      stamped += turn.stamped;
      if (turn.isMore) more.push(principal);
    }
    return more;
  };
  let waiting: DidWeb[] = [];
  let failure: unknown = null;
  try {
    let after: DidWeb | null = null;
    do {
      const page = await deps.store.grants.listUnstampedPrincipals(ABANDONED_AFTER_SECONDS, after);
      waiting.push(...(await takeTurns(page.principals)));
      after = page.next;
    } while (after !== null && goesOn());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    failure = error;
  }
  while (waiting.length > 0 && goesOn()) waiting = await takeTurns(waiting);
  if (failure !== null) throw failure;
  return { stamped };
};

interface Turn {
  readonly stamped: number;
  readonly isMore: boolean;
}

/** One turn. Where it fails no more is said to be left: the others go on. */
const completeSome = async (deps: Deps, principal: DidWeb): Promise<Turn> => {
  const { store, clock, log } = deps;
  let ids: GrantId[] = [];
  const leave = (error: string): Turn => {
    log.warn('revocation.not_completed', { principal, grants: ids.length, error });
    return { stamped: 0, isMore: false };
  };
  try {
    const grants = await store.grants.listUnstamped(principal, ABANDONED_AFTER_SECONDS, BATCH);
    if (grants.length === 0) return { stamped: 0, isMore: false };
    ids = grants.map(({ id }) => id);
    const problem = await publishRevoked(deps, principal, grants);
    if (problem !== null)
      return leave(problem instanceof StoreError ? problem.message : (problem.detail ?? problem.message));
    const { size: stamped } = await store.revocation.stampRevoked(principal, ids, clock.nowMs());
    return { stamped, isMore: stamped > 0 && grants.length === BATCH };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return leave(error.message);
  }
};
