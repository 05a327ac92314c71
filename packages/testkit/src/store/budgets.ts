/**
 * Commits on budgets as the verify path makes them: evaluated by the engine's own arithmetic, stored by the real
 * function.
 */
import {
  type Balances,
  type Budget,
  type Consumption,
  consumptionOf,
  type GrantId,
  type Sha256,
} from '@svc/protocol';
import type { DecisionCommit, GrantRecord, Store } from '@svc/service';
import { allowCommit, denyCommit, type World } from './world.ts';

export const keyOf = (digit: number) => `sha256:${digit.toString(16).repeat(64)}` as Sha256;

export const usesOf = (uses: number): Budget => ({
  limits: { total: null, perPeriod: null, uses },
  period: null,
});

export interface Purchase {
  readonly key?: Sha256;
  readonly budget: Budget;
  readonly amount?: number;
  readonly nowMs?: number;
}

/** Null where the budget does not allow it. */
export const consume = (
  balances: Balances,
  { key = keyOf(1), budget, amount = 0, nowMs = Date.now() }: Purchase,
): Consumption | null => consumptionOf({ key, budget, balances, amount, nowMs });

/** An ALLOW on these balances where the budget allows it; otherwise a DENY that has consulted them. */
export const budgetCommit = (
  world: World,
  grant: GrantRecord,
  balances: Balances,
  purchase: Purchase,
  change: Partial<DecisionCommit> = {},
): DecisionCommit => {
  const evaluatedAtMs = purchase.nowMs ?? Date.now();
  const consumption = consume(balances, { ...purchase, nowMs: evaluatedAtMs });
  const budget = { balances, consumption };
  if (consumption !== null) return allowCommit(world, grant, { evaluatedAtMs, budget, ...change });
  const reason = 'AMOUNT_EXCEEDS_AUTHORITY';
  return denyCommit(world, { evaluatedAtMs, reason, grantId: grant.id, budget, ...change });
};

export const readBalances = async (store: Store, grantId: GrantId): Promise<Balances> => {
  const { balances } = await store.consumption.findPage(grantId, { limit: 1 });
  return balances;
};
