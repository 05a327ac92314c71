/**
 * The re-check of hosted Principals' domains (interface §Limits: every 24 hours). Due domains are found by the time of
 * their last check, so the job catches up after an outage. It skips a domain that another worker has checked meanwhile:
 * two runs at once repeat only the checks that both had begun.
 */
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { passBarrier } from '../grants/barrier.ts';
import type { PrincipalRecord, VerificationDueRule } from '../ports/principals.ts';
import { StoreError } from '../ports/store.ts';
import { REVERIFIED_EVERY_HOURS } from '../principals/verification.ts';
import { UNKNOWN_FOR_HOURS } from '../principals/verification-state.ts';
import { checkDomain } from '../principals/verify-principal.ts';
import { forEachOf } from './for-each-of.ts';

const DUE: VerificationDueRule = {
  everyHours: REVERIFIED_EVERY_HOURS,
  retryHours: 1,
  unknownForHours: UNKNOWN_FOR_HOURS,
};
const BATCH = 100;
const AT_ONCE = 8;

export interface Reverified {
  readonly checked: number;
  readonly changed: number;
  readonly failed: number;
}

/** Checks every domain that is due. Begins no further check once `stop` is aborted; rejects when storage cannot list. */
export const reverifyDomains = async (deps: ServiceDeps, stop: AbortSignal): Promise<Reverified> => {
  const tried = new Set<string>();
  let [checked, changed, failed] = [0, 0, 0];
  for (;;) {
    const listed = await deps.store.principals.listDueForVerification(DUE, BATCH + tried.size);
    // One whose check could not be recorded stays due: it waits for the next round.
    const due = listed.filter(({ did }) => !tried.has(did)).slice(0, BATCH);
    if (due.length === 0 || stop.aborted) return { checked, changed, failed };
    await forEachOf(due, AT_ONCE, stop, async (principal) => {
      const outcome = await reverify(deps, principal);
      if (outcome === 'failed') {
        failed += 1;
        tried.add(principal.did);
      } else if (outcome !== 'elsewhere') checked += 1;
      if (outcome === 'changed') changed += 1;
    });
    if (stop.aborted) return { checked, changed, failed };
  }
};

type Outcome = 'kept' | 'changed' | 'elsewhere' | 'failed';

const reverify = async (deps: ServiceDeps, listed: PrincipalRecord): Promise<Outcome> => {
  const { did } = listed;
  try {
    const principal = await deps.store.principals.find(did);
    if (principal === null || principal.lastCheckedMs !== listed.lastCheckedMs) return 'elsewhere';
    const checked = await checkDomain(deps, principal, {
      actor: SYSTEM,
      requestId: null,
      auditAlways: false,
    });
    if (checked === null) return 'elsewhere';
    const { from, outcome } = checked;
    const to = checked.principal.verificationState;
    if (to !== from) deps.log.warn('domain.changed', { did, from, to, outcome });
    if (checked.needsBarrier) await passBarrier(deps, did);
    return to === from ? 'kept' : 'changed';
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof ServiceError)) throw error;
    deps.log.warn('domain.not_checked', { did, error: error.message });
    return 'failed';
  }
};
