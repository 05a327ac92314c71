/**
 * Completes revocations whose node ended between recording and stamping them, or whose list could not be signed
 * (protocol §9). They deny already. What is missing is the list, the barrier and the time, which otherwise only a
 * repeated call would add.
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { publishRevoked } from '../grants/publish-revoked.ts';
import { StoreError } from '../ports/store.ts';
import { roundUntil } from './round.ts';

/** A revocation that is still under way takes less time. */
export const ABANDONED_AFTER_SECONDS = 10;
const BATCH = 1_000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity' | 'log'>;

export interface CompletedRevocations {
  readonly stamped: number;
}

/**
 * Completes what is due. Rejects when storage cannot list Principals, after completing those that it could list. Each
 * Principal has a turn of at most 1,000 Grants before any Principal has a second turn. A Principal whose barrier does
 * not pass in time waits for the next round, as does everything left after a minute.
 */
export const completeRevocations = async (deps: Deps, stop: AbortSignal): Promise<CompletedRevocations> => {
  const goesOn = roundUntil(stop);
  let stamped = 0;
  /** Returns the Principals that may have more Grants to complete. */
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

/**
 * One turn of a Principal. When it fails, it reports that nothing more is left, so that the round continues with the
 * other Principals.
 */
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
