/**
 * May this relying party's org make another production check (interface §Entitlement)? Asked before the evaluation. What
 * is remembered with the caller's key is no more than a good guess: it is looked up again before anything is refused on
 * its word, and the commit of the decision judges by the row itself, under the org's lock.
 *
 * Nothing presented is authenticated here. Whoever only claims that a Grant is the sandbox's passes, and is denied by
 * the evaluation.
 */
import type { OrgId, Presented } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { standingOf } from '../entitlements/entitlement-standing.ts';
import { planRequired } from '../errors.ts';
import type { ProductionCheck } from '../ports/verify-store.ts';

/** A production check that no plan covers: refused, or stored all the same and only logged. */
export type WithoutPlan = 'refused' | 'logged';

/** Leave to evaluate, as the caller stands now. */
export interface Admission {
  readonly caller: RpCaller;
  /** Null: not subject to a plan. */
  readonly productionCheck: ProductionCheck | null;
  /** Why no plan covers the check, where that is not enforced. */
  readonly uncovered: string | null;
}

interface Silence {
  readonly untilMs: number;
  /** That went unmentioned in the log. */
  checks: number;
}

type Deps = Pick<ServiceDeps, 'clock' | 'entitlements' | 'identity' | 'log'>;

const LOGGED_EVERY_MS = 60_000;
const ORGS_REMEMBERED = 1_000;

export class EntitlementGate {
  private readonly silences = new LRUCache<OrgId, Silence>({ max: ORGS_REMEMBERED });

  constructor(
    private readonly deps: Deps,
    private readonly onWithoutPlan: (what: WithoutPlan) => void,
  ) {}

  /** Of a caller as remembered. Null: it would be refused as it is, and must be read again first. */
  guess(caller: RpCaller, presented: Presented): Admission | null {
    const admission = this.judge(caller, presented);
    return mustRefuse(admission) ? null : admission;
  }

  /** Of a caller as just read. Throws `PLAN_REQUIRED`. */
  admit(caller: RpCaller, presented: Presented): Admission {
    const admission = this.judge(caller, presented);
    if (!mustRefuse(admission)) return admission;
    this.onWithoutPlan('refused');
    throw planRequired(admission.uncovered ?? '');
  }

  /** Tells of a decision that no plan covers: at most one line a minute for each org. */
  noteStored({ productionCheck, uncovered }: Admission): void {
    if (productionCheck === null || uncovered === null) return;
    this.onWithoutPlan('logged');
    const { orgId } = productionCheck;
    const nowMs = this.deps.clock.nowMs();
    const silence = this.silences.get(orgId);
    if (silence !== undefined && nowMs < silence.untilMs) {
      silence.checks++;
      return;
    }
    this.silences.set(orgId, { untilMs: nowMs + LOGGED_EVERY_MS, checks: 0 });
    this.deps.log.warn('entitlement.not_covered', { orgId, uncovered, unmentioned: silence?.checks ?? 0 });
  }

  private judge(caller: RpCaller, { grant }: Presented): Admission {
    const { clock, entitlements, identity } = this.deps;
    const { entitlement, relyingParty } = caller;
    const { orgId } = relyingParty;
    const isSandbox = grant.ok && grant.value.issuer === identity.sandboxPrincipal;
    if (orgId === null || isSandbox) return { caller, productionCheck: null, uncovered: null };
    const isComp = entitlements.compOrgs.has(orgId);
    const { effective, detail } = standingOf(entitlement, { isComp, nowMs: clock.nowMs() });
    const productionCheck = {
      orgId,
      entitlementVersion: entitlement?.version ?? 0,
      isCapped: entitlement !== null && entitlement.checkCap !== null,
      isEnforced: entitlements.isEnforced && !isComp,
    };
    return { caller, productionCheck, uncovered: effective === 'blocked' ? detail : null };
  }
}

const mustRefuse = ({ productionCheck, uncovered }: Admission): boolean =>
  productionCheck?.isEnforced === true && uncovered !== null;
