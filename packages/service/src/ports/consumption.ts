/** What Grants have used up of their budgets (interface §Consumable Grants, protocol §11): the balances and their log. */
import type { Balances, Consumption, GrantId, Movement, ReceiptId, Sha256 } from '@svc/protocol';

export type ConsumptionCause = 'consume' | 'restore' | 'restore_reversal';

export interface ConsumptionEventRecord {
  /** Number of the event in its Grant's log, from 1, without a gap. */
  readonly version: number;
  readonly key: Sha256;
  /** Minor units; negative for a restore. */
  readonly deltaTotal: number;
  /** In the window that began at `periodStartMs`. */
  readonly deltaPeriod: number;
  readonly deltaUses: number;
  /** Null: the budget has no period. */
  readonly periodStartMs: number | null;
  readonly cause: ConsumptionCause;
  /** The Receipt of a consume, the outcome record otherwise. */
  readonly causeId: string;
  readonly receiptId: ReceiptId;
  readonly recordedAtMs: number;
}

/** One page of the log, and the balances as they were when it was read. */
export interface ConsumptionPage {
  readonly balances: Balances;
  /** Descending versions. */
  readonly events: readonly ConsumptionEventRecord[];
  readonly asOfMs: number;
}

/** What a Receipt consumed, and whether that was restored. */
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
   * The `limit` newest movements of a Grant below `beforeVersion` (exclusive), recorded since `sinceMs` (default: all). Version 0
   * when it was never consumed from. The balances are of all movements.
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
  /** Waits for the Grant's lock, holds it until the end of the transaction, and answers the balances under it. */
  findForUpdate(grantId: GrantId): Promise<Balances>;
  /**
   * Under the Grant's lock: appends the movement, which is dated now, and stores the balances that come of it. Answers
   * their version. Conflict when this Receipt has had a movement of this cause.
   */
  append(restore: NewRestore, balances: Balances, movementAt: (nowMs: number) => Movement): Promise<number>;
}

/** What an evaluation on budgets wants to know. */
export interface BudgetQuery {
  readonly grantId: GrantId;
  /** The `jti` of the Proof; null where that is malformed. */
  readonly jti: string | null;
}

export interface BudgetFacts {
  readonly balances: Balances;
  readonly isSpent: boolean;
}

/** What a decision had to do with budgets: it holds only on this version of the balances. */
export interface BudgetUse {
  readonly balances: Balances;
  /** Null: nothing is consumed. */
  readonly consumption: Consumption | null;
}
