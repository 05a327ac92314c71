/**
 * Completes revocations whose node ended between recording them and stamping them (protocol §9). They deny already; what
 * is missing is the barrier and the time, which only somebody's repeated call would bring otherwise.
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';

/** A revoker that is still at work takes less. */
const ABANDONED_AFTER_SECONDS = 10;
const BATCH = 1_000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'log'>;

export interface CompletedRevocations {
  readonly stamped: number;
}

/** Rejects when storage cannot list. A Principal whose barrier is not passed in time waits for the next round. */
export const completeRevocations = async (deps: Deps, stop: AbortSignal): Promise<CompletedRevocations> => {
  let stamped = 0;
  while (!stop.aborted) {
    const found = await deps.store.grants.listUnstamped(ABANDONED_AFTER_SECONDS, BATCH);
    let stampedNow = 0;
    for (const [principal, ids] of byPrincipal(found)) {
      if (stop.aborted) break;
      stampedNow += await stamp(deps, principal, ids);
    }
    stamped += stampedNow;
    if (found.length < BATCH || stampedNow === 0) break;
  }
  return { stamped };
};

const byPrincipal = (
  grants: readonly { readonly id: GrantId; readonly principal: DidWeb }[],
): Map<DidWeb, GrantId[]> => {
  const groups = new Map<DidWeb, GrantId[]>();
  for (const { id, principal } of grants) {
    const ids = groups.get(principal);
    if (ids === undefined) groups.set(principal, [id]);
    else ids.push(id);
  }
  return groups;
};

const stamp = async (
  { store, clock, log }: Deps,
  principal: DidWeb,
  ids: readonly GrantId[],
): Promise<number> => {
  try {
    return (await store.revocation.stampRevoked(principal, ids, clock.nowMs())).size;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn('revocation.not_completed', { principal, grants: ids.length, error: error.message });
    return 0;
  }
};
