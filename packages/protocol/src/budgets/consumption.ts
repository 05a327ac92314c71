/** Computes what one decision consumes of a budget, or that too little is left (protocol §11). */
import type { Sha256 } from '@svc/codec';
import { addable, type Balance, type Balances, findBalance, type Movement, remainingOf } from './balances.ts';
import type { Budget, Limits } from './budget.ts';
import { periodStartMs } from './period.ts';

/**
 * The movement that a commit makes, with the balances that it is based on: the commit must find exactly their version.
 */
export interface Consumption extends Movement {
  readonly balances: Balances;
}

/** What is to be consumed, and what was consumed before. */
export interface Opening {
  readonly key: Sha256;
  readonly budget: Budget;
  readonly balances: Balances;
  /** Minor units; 0 for an action that has no amount. */
  readonly amount: number;
  /** The instant of the evaluation; it becomes the movement's `recordedAtMs`. */
  readonly nowMs: number;
}

/** Null if any limit has too little left. */
export const consumptionOf = ({ key, budget, balances, amount, nowMs }: Opening): Consumption | null => {
  const { limits } = budget;
  const spent = spentAt(findBalance(balances, key), budget, nowMs);
  if (!suffices(remainingOf(limits, spent), amount)) return null;
  return {
    balances,
    key,
    deltaTotal: addable(spent.spentTotal, amount),
    deltaPeriod: spent.periodStartMs === null ? 0 : amount,
    deltaUses: 1,
    periodStartMs: spent.periodStartMs,
    limits,
    recordedAtMs: nowMs,
  };
};

/** What is left of each limit at `nowMs`, in the window of that instant. */
export const leftAt = ({ key, budget, balances, nowMs }: Omit<Opening, 'amount'>): Limits =>
  remainingOf(budget.limits, spentAt(findBalance(balances, key), budget, nowMs));

const suffices = ({ total, perPeriod, uses }: Limits, amount: number): boolean =>
  (total === null || amount <= total) &&
  (perPeriod === null || amount <= perPeriod) &&
  (uses === null || uses >= 1);

type Spent = Pick<Balance, 'spentTotal' | 'spentInPeriod' | 'usesSpent' | 'periodStartMs'>;

const NOTHING: Spent = { spentTotal: 0, spentInPeriod: 0, usesSpent: 0, periodStartMs: null };

/**
 * What has been spent at `nowMs`. Windows never go back: where another node, whose clock is ahead, has already started
 * the next window, a decision dated earlier counts in that next window, since only its balance is stored.
 */
const spentAt = (balance: Balance | null, { period }: Budget, nowMs: number): Spent => {
  const spent = balance ?? NOTHING;
  if (period === null) return spent;
  const start = periodStartMs(period, nowMs);
  if (spent.periodStartMs !== null && start <= spent.periodStartMs) return spent;
  return { ...spent, spentInPeriod: 0, periodStartMs: start };
};
