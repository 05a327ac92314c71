/**
 * May this relying party's org make another production check (interface §Entitlement)? Asked before the evaluation. What
 * is remembered with the caller's key is no more than a good guess: it is looked up again before anything is refused on
 * its word, and the commit of the decision judges by the row itself, under the org's lock.
 *
 * Nothing presented is authenticated here. Whoever only claims that a Grant is the sandbox's passes, is denied by the
 * evaluation, and has that counted as any other check.
 */
import type { OrgId, Presented } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { standingOf } from '../entitlements/entitlement-standing.ts';
import { planRequired, unauthorized } from '../errors.ts';
import type { ProductionCheck } from '../ports/verify-store.ts';

/** A production check that no plan covers: refused, or stored all the same and only logged. */
export type WithoutPlan = 'refused' | 'logged';

/** A caller as it stands now, and what its plan covers of the check that it asks for. */
export interface EntitledCaller {
  readonly caller: RpCaller;
  /** Null: not subject to a plan. Never enforced where the Grant names the sandbox. */
  readonly productionCheck: ProductionCheck | null;
  /** The Grant says that it is the sandbox's. Where that proves true the decision is no production check. */
  readonly namesSandbox: boolean;
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

  /** Judges a caller as remembered. Null: it would be refused as it is, and must be read again first. */
  guess(caller: RpCaller, presented: Presented): EntitledCaller | null {
    if (isUnproven(caller)) return null;
    const entitled = this.judge(caller, presented);
    return mustRefuse(entitled) ? null : entitled;
  }

  /** Judges a caller as just read. Throws `PLAN_REQUIRED`, or `UNAUTHORIZED` for one whose DID is claimed and not proven. */
  entitle(caller: RpCaller, presented: Presented): EntitledCaller {
    if (isUnproven(caller)) throw unproven(caller);
    const entitled = this.judge(caller, presented);
    if (!mustRefuse(entitled)) return entitled;
    this.onWithoutPlan('refused');
    throw planRequired(entitled.uncovered ?? '');
  }

  /**
   * Tells of a decision that no plan covers: at most one line a minute for each org. Of Grants that name the sandbox nothing
   * is told: most of them are the sandbox's.
   */
  noteStored({ productionCheck, namesSandbox, uncovered }: EntitledCaller): void {
    if (productionCheck === null || namesSandbox || uncovered === null) return;
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

  private judge(caller: RpCaller, { grant }: Presented): EntitledCaller {
    const { clock, entitlements, identity } = this.deps;
    const { entitlement, relyingParty } = caller;
    const { orgId } = relyingParty;
    const namesSandbox = grant.ok && grant.value.issuer === identity.sandboxPrincipal;
    if (orgId === null) return { caller, productionCheck: null, namesSandbox, uncovered: null };
    const isComp = entitlements.compOrgs.has(orgId);
    const { effective, detail } = standingOf(entitlement, { isComp, nowMs: clock.nowMs() });
    const productionCheck = {
      orgId,
      entitlementVersion: entitlement?.version ?? 0,
      isCapped: entitlement !== null && entitlement.checkCap !== null,
      isEnforced: entitlements.isEnforced && !isComp && !namesSandbox,
    };
    return { caller, productionCheck, namesSandbox, uncovered: effective === 'blocked' ? detail : null };
  }
}

const isUnproven = ({ relyingParty }: RpCaller): boolean => relyingParty.claimExpiresAtMs !== null;

const unproven = ({ subject }: RpCaller) =>
  unauthorized(
    `${subject} is registered and its domain not proven yet, so its key is none of a relying party; nothing was evaluated. GET /claims/{did} says ` +
      'what to publish, POST /relying-parties/{did}/verify has it checked.',
  );

const mustRefuse = ({ productionCheck, uncovered }: EntitledCaller): boolean =>
  productionCheck?.isEnforced === true && uncovered !== null;
