/** Storage of Grants that a restore withholds until an operator releases them (protocol §10). */
import type { GrantId, OrgId } from '@svc/protocol';

/** A Grant for which a restore may have lost the binding of its id, or what was drawn on its budgets. */
export interface WithheldGrant {
  readonly id: GrantId;
  readonly principal: string;
  /** No ALLOW of the Grant is known. */
  readonly isUnbound: boolean;
  /** Keys of budgets that are known to have been drawn on. Others may have been drawn on first in the lost span. */
  readonly budgets: readonly string[];
}

export interface WithheldGrantRepository {
  /**
   * Reads `limit` Grants after `afterId` ('' for the first), and withholds those in force: until their release no
   * decision is an ALLOW that would bind their id or draw on a budget. The restore with this epoch need not be stored
   * yet.
   */
  withhold(epoch: number, afterId: string, limit: number): Promise<GrantPage>;
  /** Withholds every Grant in force that this restore has not withheld yet. Fast where these are few. */
  withholdRest(epoch: number): Promise<void>;
  /** Withheld Grants after `afterId` ('' for the first), by ascending ids. */
  list(afterId: string, limit: number): Promise<readonly WithheldGrant[]>;
  /**
   * Reads `limit` of these Grants after `afterId`, by ascending ids, and releases those that are withheld. Answers the
   * released ones.
   */
  release(
    which: ReleasedGrants,
    afterId: string,
    limit: number,
  ): Promise<GrantPage & { readonly released: readonly ReleasedGrant[] }>;
}

/** A Grant that was released, and the org of its Principal. */
export interface ReleasedGrant {
  readonly id: string;
  readonly orgId: OrgId | null;
}

/** A page of Grants in ascending order of their ids. */
export interface GrantPage {
  /** Number of Grants that were read. Fewer than requested: there are no more. */
  readonly looked: number;
  /** Id of the last Grant; null on an empty page. */
  readonly lastId: string | null;
}

/** The Grants to release: these, those of a Principal, or all. */
export type ReleasedGrants =
  | { readonly grantIds: readonly string[] }
  | { readonly principal: string }
  | { readonly all: true };
