/**
 * Checks, before the evaluation, whether this relying party's org may make another production check (interface
 * §Entitlement). The entitlement cached with the caller's key is only a guess. It is read again before the gate refuses
 * because of it, and the commit of the decision judges by the row itself, under the org's lock.
 *
 * The gate authenticates nothing that was presented. A caller that falsely claims that a Grant is the sandbox's passes
 * the gate. The evaluation denies the Grant, and the decision is counted as any other check.
 */
import { isProfileId, type OrgId, type Presented } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { standingOf } from '../entitlements/entitlement-standing.ts';
import { planRequired, unauthorized } from '../errors.ts';
import type { ProductionCheck } from '../ports/verify-store.ts';
import { knownProfileOf } from '../relying-parties/known-profile.ts';

/** What happens to a production check that no plan covers: it is refused, or it is stored and only logged. */
export type WithoutPlan = 'refused' | 'logged';

/** A caller, and whether its plan covers the check that it asks for. */
export interface EntitledCaller {
  readonly caller: RpCaller;
  /** Null: the check is not subject to a plan. Never enforced where the Grant names the sandbox. */
  readonly productionCheck: ProductionCheck | null;
  /**
   * The Grant names the sandbox's Principal as its issuer. If that proves true, the decision is not a production check.
   */
  readonly namesSandbox: boolean;
  /** Why no plan covers the check, also where that is not enforced; null where one does, or the RP is in no org. */
  readonly uncovered: string | null;
}

interface Silence {
  readonly untilMs: number;
  /** Checks that were not logged. */
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

  /** Judges a caller as cached. Null: by the cached values it would be refused, so it must be read again first. */
  guess(caller: RpCaller, presented: Presented): EntitledCaller | null {
    if (isUnproven(caller) || !isProfileId(caller.relyingParty.profile)) return null;
    const entitled = this.judge(caller, presented);
    return mustRefuse(entitled) ? null : entitled;
  }

  /**
   * Judges a caller as just read. Throws `PLAN_REQUIRED`, `UNAUTHORIZED` where its DID is claimed and not proven, or
   * `SERVICE_UNAVAILABLE` where this version does not know its profile.
   */
  entitle(caller: RpCaller, presented: Presented): EntitledCaller {
    if (isUnproven(caller)) throw unproven(caller);
    knownProfileOf(caller.relyingParty);
    const entitled = this.judge(caller, presented);
    if (!mustRefuse(entitled)) return entitled;
    this.onWithoutPlan('refused');
    throw planRequired(entitled.uncovered ?? '');
  }

  /**
   * Logs a stored decision that no plan covers, at most one line a minute for each org. Grants that name the sandbox
   * are not logged, because most of them are the sandbox's.
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
