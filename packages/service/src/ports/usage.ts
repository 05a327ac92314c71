/** Counts of decisions, exact at every moment: each answer is of one instant, whatever is being stored or counted. */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import type { Day } from './checkpoints.ts';
import type { OutcomeType } from './outcomes.ts';
import type { PrincipalKind } from './principals.ts';

/** Which decisions are meant; everything that is given must hold. */
export interface DecisionFilter {
  /** Lowest `evaluated_at`, inclusive. */
  readonly sinceMs: number;
  /** Exclusive. */
  readonly untilMs: number;
  /** Null: of every relying party. */
  readonly relyingParties: readonly DidWeb[] | null;
  readonly principal?: DidWeb | undefined;
  readonly keyId?: ApiKeyId | undefined;
}

export interface FigureFilter extends Omit<DecisionFilter, 'keyId'> {
  /** Names Principals also where T2 is false, as their own usage does. */
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
 * One number about one Principal (null: none was authenticated). `verifies` is by reason, null for ALLOW; `outcomes`
 * by type and `losses` by currency, of the attestations in force; `allowWithOutcome` counts ALLOW Receipts. A sum beyond
 * the safe integers is the largest of them.
 */
export type PrincipalFigure = { readonly principal: DidWeb | null; readonly amount: number } & (
  | { readonly figure: 'verifies'; readonly name: string | null }
  | { readonly figure: 'outcomes'; readonly name: OutcomeType }
  | { readonly figure: 'losses'; readonly name: string }
  | { readonly figure: 'allowWithOutcome'; readonly name: null }
);

/** Tenants that are no customers: the service's own, and those it tests itself with. */
export interface ApartTenants {
  /** With every Principal and relying party in them. */
  readonly orgs: readonly OrgId[];
  /** Principals and relying parties of no org. */
  readonly subjects: readonly DidWeb[];
}

/** All tenants but some, which are counted apart. */
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

/** What is counted rejects with `TooManyCountsError` where a part of a day has too much. */
export interface UsageRepository {
  /** At most one row for each day and reason. */
  countByDay(filter: DecisionFilter): Promise<DayCount[]>;
  /** The same, and at most one row for each day and key. */
  countByDayAndKey(filter: DecisionFilter): Promise<{ days: DayCount[]; keys: DayKeyCount[] }>;
  /** Outcomes count with their decision, whenever they were reported. */
  figuresByPrincipal(filter: FigureFilter): Promise<PrincipalFigure[]>;
  /** All decisions ever made, but those of relying parties among these tenants. */
  countAll(apart: ApartTenants): Promise<DayCount[]>;
  summarizeTenants(apart: ApartTenants): Promise<TenantSummary>;
  /**
   * Whether any decision for it is stored. Those that are being stored are waited for, for 0.2 s at most for each day
   * (`lock_timeout`), and until the end of the transaction none is, for anybody: to be called last. The transaction is rolled
   * back where nothing is asked in it for 0.3 s (`unavailable`).
   */
  hasDecided(relyingParty: DidWeb): Promise<boolean>;
  /**
   * Moves the seal up to shortly before now by the database's clock, but no later than `nowMs`: no decision can be
   * stored below it any more, and every one that ever will be is visible. `lock_timeout` when decisions under way are
   * not over within a moment. False: there was more to seal than one step takes.
   */
  seal(nowMs: number): Promise<boolean>;
  /**
   * Adds up to about `limit` sealed decisions to the stored sums, all or none of them. Answers how many; 0 when there are
   * none left, or somebody else is at it.
   */
  countSealed(limit: number): Promise<number>;
}
