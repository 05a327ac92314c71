/**
 * What one Grant has consumed of its budgets, and how movements change it (interface §Consumable Grants, protocol §11).
 *
 * The log of movements is the source of truth. Balances are a fold over the log, so a replay gives them exactly.
 * Nothing here depends on the current time: the balance of a past window is kept until a movement in a later window
 * replaces it.
 */
import type { Sha256 } from '@svc/codec';
import type { GrantId } from '../model/ids.ts';
import type { Limits } from './budget.ts';

/** State of one budget after its last movement. Amounts in minor units; every number is an integer from 0 to 2^53−1. */
export interface Balance {
  /** SHA-256 of the RFC 8785 form of the Capability. */
  readonly key: Sha256;
  readonly spentTotal: number;
  /** In the window that began at `periodStartMs`. */
  readonly spentInPeriod: number;
  /** Null: the budget has no period. */
  readonly periodStartMs: number | null;
  readonly usesSpent: number;
  readonly limits: Limits;
  readonly updatedAtMs: number;
}

/** The budgets of a Grant that have been consumed from at least once. */
export interface Balances {
  readonly grantId: GrantId;
  /** Number of movements so far. */
  readonly version: number;
  /** By ascending key. */
  readonly capabilities: readonly Balance[];
}

/** One entry of the log. A restore has negative deltas. */
export interface Movement {
  readonly key: Sha256;
  readonly deltaTotal: number;
  /** In the window that began at `periodStartMs`. */
  readonly deltaPeriod: number;
  readonly deltaUses: number;
  readonly periodStartMs: number | null;
  readonly limits: Limits;
  readonly recordedAtMs: number;
}

/** The balances of a Grant that was never consumed from: version 0. */
export const emptyBalances = (grantId: GrantId): Balances => ({ grantId, version: 0, capabilities: [] });

/** The balance of one Capability; null if it was never consumed from. */
export const findBalance = (balances: Balances, key: Sha256): Balance | null =>
  balances.capabilities.find((balance) => balance.key === key) ?? null;

/** What is left of each limit. Never below 0, although a reversal can make the sum spent exceed a limit. */
export const remainingOf = (
  limits: Limits,
  spent: Pick<Balance, 'spentTotal' | 'spentInPeriod' | 'usesSpent'>,
): Limits => ({
  total: left(limits.total, spent.spentTotal),
  perPeriod: left(limits.perPeriod, spent.spentInPeriod),
  uses: left(limits.uses, spent.usesSpent),
});

const left = (limit: number | null, spent: number): number | null =>
  limit === null ? null : Math.max(0, limit - spent);

/**
 * The balances after one more movement. Throws RangeError where a number would leave the range 0 to 2^53−1;
 * `consumptionOf`, `restoreOf` and `reversalOf` never make such a movement.
 */
export const applyConsumption = (balances: Balances, movement: Movement): Balances => {
  const { grantId, version, capabilities } = balances;
  const moved = move(findBalance(balances, movement.key), movement);
  const others = capabilities.filter(({ key }) => key !== movement.key);
  const before = others.filter(({ key }) => key < movement.key);
  const behind = others.slice(before.length);
  return { grantId, version: version + 1, capabilities: [...before, moved, ...behind] };
};

const move = (balance: Balance | null, movement: Movement): Balance => {
  const { key, limits, recordedAtMs, deltaTotal, deltaUses } = movement;
  return {
    key,
    spentTotal: sum(balance?.spentTotal ?? 0, deltaTotal),
    ...moveInPeriod(balance, movement),
    usesSpent: sum(balance?.usesSpent ?? 0, deltaUses),
    limits,
    updatedAtMs: recordedAtMs,
  };
};

/** A movement in a later window starts that window. A movement in a past window leaves the present one unchanged. */
const moveInPeriod = (
  balance: Balance | null,
  { periodStartMs: start, deltaPeriod }: Movement,
): Pick<Balance, 'spentInPeriod' | 'periodStartMs'> => {
  const { periodStartMs, spentInPeriod } = balance ?? { periodStartMs: null, spentInPeriod: 0 };
  if (start === null || (periodStartMs !== null && start < periodStartMs))
    return { periodStartMs, spentInPeriod };
  const before = start === periodStartMs ? spentInPeriod : 0;
  return { periodStartMs: start, spentInPeriod: sum(before, deltaPeriod) };
};

const sum = (spent: number, delta: number): number => {
  const result = spent + delta;
  if (Number.isSafeInteger(result) && result >= 0) return result;
  throw new RangeError(`a balance of ${spent} cannot move by ${delta}`);
};

/** The part of `delta` that keeps the sum within 2^53−1. */
export const addable = (spent: number, delta: number): number =>
  Math.min(delta, Number.MAX_SAFE_INTEGER - spent);

/** The movement that returns what `consumed` took, in the window of `consumed`. */
export const restoreOf = (consumed: Movement, recordedAtMs: number): Movement => ({
  ...consumed,
  deltaTotal: negated(consumed.deltaTotal),
  deltaPeriod: negated(consumed.deltaPeriod),
  deltaUses: negated(consumed.deltaUses),
  recordedAtMs,
});

const negated = (delta: number): number => (delta === 0 ? 0 : -delta);

/** The movement that undoes a restore of `consumed`. It can exceed a limit. */
export const reversalOf = (balances: Balances, consumed: Movement, recordedAtMs: number): Movement => {
  const balance = findBalance(balances, consumed.key);
  const inPeriod = balance?.periodStartMs === consumed.periodStartMs ? balance.spentInPeriod : 0;
  return {
    ...consumed,
    deltaTotal: addable(balance?.spentTotal ?? 0, consumed.deltaTotal),
    deltaPeriod: addable(inPeriod, consumed.deltaPeriod),
    recordedAtMs,
  };
};
