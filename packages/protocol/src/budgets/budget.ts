/**
 * Budgets: the constraints of a Capability that are used up (protocol §11).
 *
 * Only a profile with budgets recognises these keys; under any other they are unknown keys, on which P17 decides. So
 * their form is checked separately from the rest of the Grant: see `Findings.malformedBudget`.
 */
import type { JsonObject, JsonValue } from '@svc/codec';
import type { ActionType } from '../model/action.ts';
import { isNonNegativeInteger, member } from '../model/members.ts';
import { isPeriod, PERIODS, type Period } from './period.ts';

/** Limits in minor units and in uses; null: not limited. */
export interface Limits {
  readonly total: number | null;
  readonly perPeriod: number | null;
  readonly uses: number | null;
}

/** The limits of a Capability that are used up. */
export interface Budget {
  readonly limits: Limits;
  /** Null if and only if `limits.perPeriod` is null. */
  readonly period: Period | null;
}

/** The constraint keys that form a budget, by type of Action. */
export const BUDGET_KEYS: Readonly<Record<ActionType, readonly string[]>> = {
  'commerce:purchase': ['maxTotal', 'maxPerPeriod', 'period', 'maxUses'],
  'api:call': ['maxUses'],
};

/** What is wrong with the form of the budget in these constraints; null if nothing is. */
export const findBudgetProblem = (action: ActionType, constraints: JsonObject): string | null => {
  for (const key of BUDGET_KEYS[action]) {
    const value = member(constraints, key);
    if (value !== undefined && !isWellTyped(key, value))
      return key === 'period'
        ? `period must be one of ${PERIODS.join(', ')}`
        : `${key} must be an integer, 0 to 2^53-1`;
  }
  const isHalfPeriod =
    action === 'commerce:purchase' &&
    (member(constraints, 'period') === undefined) !== (member(constraints, 'maxPerPeriod') === undefined);
  return isHalfPeriod ? 'period and maxPerPeriod must come together' : null;
};

const isWellTyped = (key: string, value: JsonValue): boolean =>
  key === 'period' ? isPeriod(value) : isNonNegativeInteger(value);

/** The part of a Capability that budgets are read from. */
interface Constrained {
  readonly action: ActionType;
  readonly constraints: JsonObject;
}

/** Whether this Capability has a limit that is used up. */
export const hasBudget = ({ action, constraints }: Constrained): boolean =>
  BUDGET_KEYS[action].some((key) => Object.hasOwn(constraints, key));

/** The budget of a Capability whose constraints are well formed; null if it has none. */
export const budgetOf = (capability: Constrained): Budget | null => {
  if (!hasBudget(capability)) return null;
  const { action, constraints } = capability;
  const uses = limitOf(constraints, 'maxUses');
  if (action === 'api:call') return { limits: { total: null, perPeriod: null, uses }, period: null };
  const period = member(constraints, 'period');
  return {
    limits: {
      total: limitOf(constraints, 'maxTotal'),
      perPeriod: limitOf(constraints, 'maxPerPeriod'),
      uses,
    },
    period: isPeriod(period) ? period : null,
  };
};

/** P1 refuses every value of a wrong type. If one were left, 0 denies, while null would lift the limit. */
const limitOf = (constraints: JsonObject, key: string): number | null => {
  const value = member(constraints, key);
  if (value === undefined) return null;
  return isNonNegativeInteger(value) ? value : 0;
};
