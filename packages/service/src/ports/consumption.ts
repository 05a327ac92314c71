/**
 * Storage of what Grants have consumed of their budgets (interface §Consumable Grants, protocol §11): balances and log.
 */
import type { Balances, Consumption, GrantId, Movement, ReceiptId, Sha256 } from '@svc/protocol';

export type ConsumptionCause = 'consume' | 'restore' | 'restore_reversal';

export interface ConsumptionEventRecord {
  /** Number of the event in its Grant's log, from 1, without gaps. */
  readonly version: number;
  readonly key: Sha256;
  /** Minor units; negative for a restore. */
  readonly deltaTotal: number;
  /** Change in the window that began at `periodStartMs`. */
  readonly deltaPeriod: number;
  readonly deltaUses: number;
  /** Null: the budget has no period. */
  readonly periodStartMs: number | null;
  readonly cause: ConsumptionCause;
  /** Id of the Receipt for a consume, else of the outcome record. */
  readonly causeId: string;
  readonly receiptId: ReceiptId;
  readonly recordedAtMs: number;
}

/** One page of the log, and the balances when it was read. */
export interface ConsumptionPage {
  readonly balances: Balances;
  /** Descending versions. */
  readonly events: readonly ConsumptionEventRecord[];
  readonly asOfMs: number;
}

/** What a Receipt consumed, and whether the budget was restored. */
export interface ReceiptConsumption {
  readonly grantId: GrantId;
  readonly consumed: Movement;
  readonly restore: { readonly attestationId: string; readonly isReversed: boolean } | null;
}

export interface NewRestore {
  readonly grantId: GrantId;
  readonly receiptId: ReceiptId;
  readonly attestationId: string;
  readonly cause: Exclude<ConsumptionCause, 'consume'>;
}

export interface ConsumptionRepository {
  /**
   * The `limit` newest movements of a Grant below `beforeVersion` (exclusive), recorded since `sinceMs` (default: all).
   * The balances include all movements; their version is 0 when nothing was ever consumed.
   */
  findPage(
    grantId: GrantId,
    page: {
      readonly beforeVersion?: number | undefined;
      readonly limit: number;
      readonly sinceMs?: number | undefined;
    },
  ): Promise<ConsumptionPage>;
  /** Null when the Receipt consumed nothing. */
  findOfReceipt(receiptId: ReceiptId): Promise<ReceiptConsumption | null>;
  /** Locks the Grant until the end of the transaction, and answers the balances read under the lock. */
  findForUpdate(grantId: GrantId): Promise<Balances>;
  /**
   * To be called under the Grant's lock. Appends a movement, dated now, stores the resulting balances and answers their
   * version. Rejects with `conflict` when this Receipt has a movement of this cause already.
   */
  append(restore: NewRestore, balances: Balances, movementAt: (nowMs: number) => Movement): Promise<number>;
}

/** What an evaluation on budgets reads. */
export interface BudgetQuery {
  readonly grantId: GrantId;
  /** The `jti` of the Proof; null where the Proof is malformed. */
  readonly jti: string | null;
}

export interface BudgetFacts {
  readonly balances: Balances;
  readonly isSpent: boolean;
}

/** The balances on which a decision was evaluated, and what it consumes. It is stored only on this version of them. */
export interface BudgetUse {
  readonly balances: Balances;
  /** Null: nothing is consumed. */
  readonly consumption: Consumption | null;
}
