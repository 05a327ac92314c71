/**
 * Checks the domains of hosted Principals again (interface §Limits: every 24 hours). Due domains are found by the time
 * of their last check, so the job catches up after an outage. It skips a domain that another worker has checked
 * meanwhile, so two runs at once repeat only the checks that both had begun.
 */
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { passBarrier } from '../grants/barrier.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { StoreError } from '../ports/store.ts';
import { checkDomain } from '../principals/verify-principal.ts';
import { forEachOf } from './for-each-of.ts';

const BATCH = 100;
/** Failed domains are listed again with each page, so a round ends when this many checks could not be recorded. */
const MOST_FAILED = 1_000;
const AT_ONCE = 8;

/** Numbers of checks in a round. */
export interface Reverified {
  /**
   * Checks that were recorded. Each has one of the next three results. `changed` counts those that changed the state,
   * and `lost` those among them that ended a verification.
   */
  readonly checked: number;
  readonly proven: number;
  readonly unknown: number;
  readonly absent: number;
  /**
   * Unknown results for Principals that were proven once. This number rises when outgoing connections fail; claimed
   * hosts that never answered do not change it.
   */
  readonly unasked: number;
  /**
   * Unknown or absent results for Principals that were proven once. A Principal that has lost its verification counts
   * again at each check.
   */
  readonly astray: number;
  readonly changed: number;
  readonly lost: number;
  /** Checks that were not recorded, or whose result is not known to be visible. */
  readonly failed: number;
}

type Counts = { -readonly [item in keyof Reverified]: number };

/** Checks every domain that is due. Begins no further check once `stop` is aborted; rejects when storage cannot list. */
export const reverifyDomains = async (deps: ServiceDeps, stop: AbortSignal): Promise<Reverified> => {
  const tried = new Set<string>();
  const counts: Counts = {
    checked: 0,
    proven: 0,
    unknown: 0,
    absent: 0,
    unasked: 0,
    astray: 0,
    changed: 0,
    lost: 0,
    failed: 0,
  };
  for (;;) {
    const listed = await deps.store.principals.listDueForVerification(BATCH + tried.size);
    // A domain whose check could not be recorded stays due; it waits for the next round.
    const due = listed.filter(({ did }) => !tried.has(did)).slice(0, BATCH);
    if (due.length === 0 || stop.aborted || tried.size >= MOST_FAILED) return counts;
    await forEachOf(due, AT_ONCE, stop, async (principal) => {
      if (!(await reverify(deps, principal, counts))) tried.add(principal.did);
    });
    if (stop.aborted) return counts;
  }
};

/** Checks one domain. False: it may still be due. */
const reverify = async (deps: ServiceDeps, listed: PrincipalRecord, counts: Counts): Promise<boolean> => {
  const { did } = listed;
  try {
    const principal = await deps.store.principals.find(did);
    // Another worker has checked it meanwhile.
    if (principal === null || principal.lastCheckedMs !== listed.lastCheckedMs) return true;
    const checked = await checkDomain(deps, principal, {
      actor: SYSTEM,
      requestId: null,
      auditAlways: false,
    });
    if (checked === null) return true;
    const { from, outcome } = checked;
    const to = checked.principal.verificationState;
    counts.checked += 1;
    counts[outcome] += 1;
    if (outcome !== 'proven' && checked.principal.lastProvenMs !== null) {
      counts.astray += 1;
      if (outcome === 'unknown') counts.unasked += 1;
    }
    if (to !== from) {
      counts.changed += 1;
      if (to === 'unverified') counts.lost += 1;
      deps.log.warn('domain.changed', { did, from, to, outcome });
    }
    if (checked.needsBarrier) await passBarrier(deps, did);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof ServiceError)) throw error;
    counts.failed += 1;
    deps.log.warn('domain.not_checked', { did, error: error.message });
    return false;
  }
};
