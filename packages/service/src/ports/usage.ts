/** Storage of counts of decisions. Each answer is exact for one instant, also while decisions are stored or counted. */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import type { Day } from './checkpoints.ts';
import type { OutcomeType } from './outcomes.ts';
import type { PrincipalKind } from './principals.ts';

/** Selects decisions; all given conditions must hold. */
export interface DecisionFilter {
  /** Lowest `evaluated_at`, inclusive. */
  readonly sinceMs: number;
  /** Exclusive. */
  readonly untilMs: number;
  /** Null: all relying parties. */
  readonly relyingParties: readonly DidWeb[] | null;
  readonly principal?: DidWeb | undefined;
  readonly keyId?: ApiKeyId | undefined;
}

export interface FigureFilter extends Omit<DecisionFilter, 'keyId'> {
  /** Names Principals also in decisions where T2 is false, as in a Principal's own usage. */
  readonly withUnverified?: boolean;
}

/** `reason` is null for ALLOW. */
export interface DayCount {
  readonly day: Day;
  readonly reason: string | null;
  readonly verifies: number;
}

export interface DayKeyCount {
  readonly day: Day;
  /** Null: recorded before keys were tracked. */
  readonly keyId: ApiKeyId | null;
  readonly allow: number;
  readonly deny: number;
}

/**
 * One figure about one Principal (null: no Principal was authenticated). `name` is the reason for `verifies` (null for
 * ALLOW), the type for `outcomes` and the currency for `losses`. `outcomes` and `losses` include the outcome records in
 * force; `allowWithOutcome` counts ALLOW Receipts. A sum above the largest safe integer is shown as that integer.
 */
export type PrincipalFigure = { readonly principal: DidWeb | null; readonly amount: number } & (
  | { readonly figure: 'verifies'; readonly name: string | null }
  | { readonly figure: 'outcomes'; readonly name: OutcomeType }
  | { readonly figure: 'losses'; readonly name: string }
  | { readonly figure: 'allowWithOutcome'; readonly name: null }
);

/** Tenants that are not customers: the service's own, and those of its self-tests. */
export interface ApartTenants {
  /** Orgs, with all their Principals and relying parties. */
  readonly orgs: readonly OrgId[];
  /** Principals and relying parties that are in no org. */
  readonly subjects: readonly DidWeb[];
}

/** Numbers of all tenants, except some that are counted separately in `apart`. */
export interface TenantSummary {
  readonly principals: {
    readonly verified: number;
    readonly hostedVerified: number;
    readonly hostedUnverified: number;
    readonly managed: number;
  };
  readonly relyingParties: number;
  readonly organizations: number;
  /** Verified and willing to be named, by ascending DID. */
  readonly named: readonly { readonly did: DidWeb; readonly domain: string; readonly kind: PrincipalKind }[];
  readonly apart: {
    readonly principals: number;
    readonly relyingParties: number;
    readonly organizations: number;
  };
}

/** Counts reject with `TooManyCountsError` where a part of a day needs too many groups. */
export interface UsageRepository {
  /** At most one row for each day and reason. */
  countByDay(filter: DecisionFilter): Promise<DayCount[]>;
  /** The rows of `countByDay`, and at most one row for each day and key. */
  countByDayAndKey(filter: DecisionFilter): Promise<{ days: DayCount[]; keys: DayKeyCount[] }>;
  /** Outcomes count with their decision, whenever they were reported. */
  figuresByPrincipal(filter: FigureFilter): Promise<PrincipalFigure[]>;
  /** All decisions ever made, except those of relying parties among these tenants. */
  countAll(apart: ApartTenants): Promise<DayCount[]>;
  summarizeTenants(apart: ApartTenants): Promise<TenantSummary>;
  /**
   * Whether any decision for this relying party is stored. Waits for commits under way, 0.2 s at most for each day
   * (else `lock_timeout`). Until the end of the transaction no decision is stored for any relying party, so this must
   * be the last call in it. The transaction is rolled back if it is idle for 0.3 s (`unavailable`).
   */
  hasDecided(relyingParty: DidWeb): Promise<boolean>;
  /**
   * Moves the seal forward to shortly before the database's time, but no later than `nowMs`. Below the seal no further
   * decision can be stored, and every stored decision is visible. Rejects with `lock_timeout` when commits under way do
   * not end soon. False: there is more to seal than one step takes.
   */
  seal(nowMs: number): Promise<boolean>;
  /**
   * Adds up to about `limit` sealed decisions to the stored sums, all or none of them. Answers how many; 0 when none
   * are left, or another process is doing this.
   */
  countSealed(limit: number): Promise<number>;
}
