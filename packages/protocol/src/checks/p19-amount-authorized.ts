/**
 * P19: some survivor allows the amount, its ceiling included; under a profile with budgets, enough of its own budget
 * must also be left (protocol §11). Balances are requested only where a survivor has a budget.
 */
import type { Balances } from '../budgets/balances.ts';
import { budgetOf, hasBudget, type Limits } from '../budgets/budget.ts';
import { type Consumption, consumptionOf, leftAt } from '../budgets/consumption.ts';
import type { Action } from '../model/action.ts';
import { type Capability, capabilityKeyOf } from '../model/capability.ts';
import { isNonNegativeInteger } from '../model/members.ts';
import {
  type CheckContext,
  type CheckResult,
  defineCheck,
  deny,
  need,
  pass,
  type Survivors,
  unavailableNow,
} from './check.ts';
import type { Comparison, ExplainedPerCapability, Judgement } from './explained.ts';
import { unknownConstraintsOf } from './p17-constraints-known.ts';
import { p18CurrencyAuthorized } from './p18-currency-authorized.ts';

export interface Affordable extends Survivors {
  /** What each survivor with a budget would consume of it. */
  readonly consumptions: ReadonlyMap<Capability, Consumption>;
}

export const p19AmountAuthorized = /* @__PURE__ */ defineCheck({
  id: 'P19',
  title: 'some survivor allows the amount (api:call: always)',
  cites: ['interface §Capability', 'interface §Consumable Grants', 'protocol §7', 'protocol §11'],
  requires: [p18CurrencyAuthorized],
  reasons: ['AMOUNT_EXCEEDS_AUTHORITY'],
  run: ({ P18: { grantId, action, survivors: capabilities } }, context): CheckResult<Affordable> => {
    const survivors = capabilities.filter((capability) => allowsAmount(capability, action));
    if (survivors.length === 0) return deny('AMOUNT_EXCEEDS_AUTHORITY');
    if (!context.profile.budgets || !survivors.some(hasBudget))
      return pass({ grantId, action, survivors, consumptions: NOTHING_CONSUMED });
    return withinBudget({ grantId, action, survivors }, context);
  },
});

export const p19Explained: ExplainedPerCapability = {
  judge: (action, context) => (capability) => judgeAmount(capability, action, context),
};

/** Whether the amount is within the ceiling of one purchase. Always true for an API call, which has no amount. */
export const allowsAmount = ({ constraints: { maxAmount } }: Capability, action: Action): boolean =>
  action.type === 'api:call' || (isNonNegativeInteger(maxAmount) && action.amount <= maxAmount);

const NOTHING_CONSUMED: Affordable['consumptions'] = /* @__PURE__ */ new Map();

const withinBudget = (candidates: Survivors, context: CheckContext): CheckResult<Affordable> => {
  const { grantId } = candidates;
  const { balances: answer } = context.facts;
  if (answer === undefined) return need({ fact: 'balances', grantId });
  // A Grant that was never consumed from has balances of version 0. So an answer without this Grant's balances is a
  // failed look-up, never an unused budget.
  if (answer.answer !== 'found' || answer.value.grantId !== grantId) return unavailableNow();
  const balances = answer.value;
  const { survivors, consumptions } = openBudgets(candidates, balances, context);
  return survivors.length > 0
    ? pass({ ...candidates, survivors, consumptions }, { balances })
    : deny('AMOUNT_EXCEEDS_AUTHORITY', { balances });
};

const openBudgets = (
  { action, survivors: candidates }: Survivors,
  balances: Balances,
  { crypto, nowMs }: CheckContext,
): Pick<Affordable, 'survivors' | 'consumptions'> => {
  const amount = action.type === 'api:call' ? 0 : action.amount;
  const survivors: Capability[] = [];
  const consumptions = new Map<Capability, Consumption>();
  for (const capability of candidates) {
    const budget = budgetOf(capability);
    if (budget !== null) {
      const key = capabilityKeyOf(crypto, capability);
      const consumption = consumptionOf({ key, budget, balances, amount, nowMs });
      if (consumption === null) continue;
      consumptions.set(capability, consumption);
    }
    survivors.push(capability);
  }
  return { survivors, consumptions };
};

const judgeAmount = (capability: Capability, action: Action, context: CheckContext): Judgement => {
  const isOfType = capability.action === action.type;
  const amount = action.type === 'api:call' ? 0 : action.amount;
  const ceiling: Bound[] =
    action.type === 'api:call' || !isOfType
      ? []
      : [boundOf('action.amount', amount, capability.constraints.maxAmount, 'maxAmount')];
  const left = leftFor(capability, amount, context);
  const bounds = [...ceiling, ...(left?.bounds ?? [])];
  const exceeded = bounds.filter(({ holds }) => !holds);
  return {
    holds: isOfType && allowsAmount(capability, action) && (left?.suffices ?? true),
    compared: (exceeded.length > 0 ? exceeded : bounds).map(({ comparison }) => comparison),
  };
};

/** A limit, and whether the Action keeps within it. */
interface Bound {
  readonly holds: boolean;
  readonly comparison: Comparison;
}

const boundOf = (what: string, found: number, most: unknown, name: string): Bound => ({
  holds: typeof most === 'number' && found <= most,
  comparison: { what, found: String(found), expected: `at most ${String(most)} (${name})` },
});

/** Null if the profile has no budgets, the Capability has none, or the balances are not available. */
const leftFor = (
  capability: Capability,
  amount: number,
  { profile, facts, crypto, nowMs }: CheckContext,
): { readonly suffices: boolean; readonly bounds: readonly Bound[] } | null => {
  const budget = budgetOf(capability);
  if (!profile.budgets || budget === null || facts.balances?.answer !== 'found') return null;
  if (unknownConstraintsOf(capability, profile).length > 0) return null;
  const balances = facts.balances.value;
  const opening = { key: capabilityKeyOf(crypto, capability), budget, balances, amount, nowMs };
  return { suffices: consumptionOf(opening) !== null, bounds: boundsOf(leftAt(opening), amount) };
};

const boundsOf = ({ total, perPeriod, uses }: Limits, amount: number): Bound[] => [
  ...(total === null ? [] : [boundOf('action.amount', amount, total, 'left of maxTotal')]),
  ...(perPeriod === null ? [] : [boundOf('action.amount', amount, perPeriod, 'left of maxPerPeriod')]),
  ...(uses === null ? [] : [boundOf('uses', 1, uses, 'left of maxUses')]),
];
