/** Grants that a restore withholds until an operator releases them (protocol §10). */
import type { GrantId, OrgId } from '@svc/protocol';

/** A Grant of which a restore may have lost what it was allowed with or had drawn. */
export interface WithheldGrant {
  readonly id: GrantId;
  readonly principal: string;
  /** No ALLOW of it is known. */
  readonly isUnbound: boolean;
  /** Keys of those that are known to have been drawn on. Others may have been first drawn on in the lost span. */
  readonly budgets: readonly string[];
}

export interface WithheldGrantRepository {
  /**
   * Looks at `limit` Grants behind `afterId` ('' for the first). Nothing is allowed by those in force that would bind
   * their id or draw on a budget, until they are released. The restore of this number need not be stored yet.
   */
  withhold(epoch: number, afterId: string, limit: number): Promise<GrantPage>;
  /** The same of every Grant that is not withheld by this restore: quick where that are few. */
  withholdRest(epoch: number): Promise<void>;
  /** Ascending ids, those behind `afterId` ('' for all). */
  list(afterId: string, limit: number): Promise<readonly WithheldGrant[]>;
  /** Looks at `limit` of these Grants behind `afterId`, and answers those that were withheld until now, by ascending ids. */
  release(
    which: ReleasedGrants,
    afterId: string,
    limit: number,
  ): Promise<GrantPage & { readonly released: readonly ReleasedGrant[] }>;
}

/** A Grant that was withheld until now, and the org of its Principal. */
export interface ReleasedGrant {
  readonly id: string;
  readonly orgId: OrgId | null;
}

/** A page of Grants, which are gone through by ascending ids. */
export interface GrantPage {
  /** How many were looked at; fewer than were asked for: there are no more. */
  readonly looked: number;
  /** Id of the last one. */
  readonly lastId: string | null;
}

/** Which Grants: these, those of a Principal, or all. */
export type ReleasedGrants =
  | { readonly grantIds: readonly string[] }
  | { readonly principal: string }
  | { readonly all: true };
