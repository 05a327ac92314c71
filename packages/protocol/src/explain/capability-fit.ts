/**
 * Judges how far each Capability of a Grant allows an Action, and shows what was compared (protocol §7, P16 to P20).
 * The checks narrow the Capabilities and stop when none is left; here all five conditions are judged for each
 * Capability.
 */
import { budgetOf, type Limits } from '../budgets/budget.ts';
import { consumptionOf, leftAt } from '../budgets/consumption.ts';
import type { CheckContext } from '../checks/check.ts';
import { allowsAction } from '../checks/p16-action-authorized.ts';
import { unknownConstraintsOf } from '../checks/p17-constraints-known.ts';
import { allowsCurrency } from '../checks/p18-currency-authorized.ts';
import { allowsAmount } from '../checks/p19-amount-authorized.ts';
import { resourceTestOf } from '../checks/p20-resource-authorized.ts';
import type { Action } from '../model/action.ts';
import { type Capability, capabilityKeyOf } from '../model/capability.ts';

/** What was compared with what, each as a value or in words. */
export interface Comparison {
  /** A member of Grant, Proof or Action, or another thing that was compared. */
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** A value as a comparison shows it; the elements of a list are separated by commas. */
export const shown = (value: unknown): string => {
  if (value === null || value === undefined) return 'none';
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
};

/** A check that narrows the Capabilities. */
export type NarrowingCheck = 'P16' | 'P17' | 'P18' | 'P19' | 'P20';

/** What one narrowing check demands of a Capability, and whether it holds. */
export interface Condition {
  readonly check: NarrowingCheck;
  readonly holds: boolean;
  /** If the condition does not hold: only the comparisons that fail. */
  readonly compared: readonly Comparison[];
}

/** One Capability with all five conditions, in the order of the checks. */
export interface CapabilityFit {
  /** Its place in the Grant, from 0. */
  readonly index: number;
  readonly capability: Capability;
  readonly conditions: readonly Condition[];
}

/**
 * The Capability that came closest: the one whose conditions hold up to the latest check; of several, the one for which
 * most conditions hold, then the one that allows the greatest amount, then the first.
 */
export const closestCapability = (
  capabilities: readonly Capability[],
  action: Action,
  context: CheckContext,
): CapabilityFit | null => {
  // Parsing the resource costs far more than matching it, so it is done once, as in P20.
  const namesResource = resourceTestOf(action);
  const fits = capabilities.map((capability, index) => ({
    index,
    capability,
    conditions: conditionsOf(capability, action, namesResource, context),
  }));
  const [closest] = fits.sort(
    (a, b) =>
      reachOf(b) - reachOf(a) || countOf(b) - countOf(a) || ceilingOf(b) - ceilingOf(a) || a.index - b.index,
  );
  return closest ?? null;
};

const reachOf = ({ conditions }: CapabilityFit): number => {
  const failed = conditions.findIndex(({ holds }) => !holds);
  return failed === -1 ? conditions.length : failed;
};

const countOf = ({ conditions }: CapabilityFit): number => conditions.filter(({ holds }) => holds).length;

const ceilingOf = ({ capability: { constraints } }: CapabilityFit): number =>
  typeof constraints.maxAmount === 'number' ? constraints.maxAmount : 0;

const conditionsOf = (
  capability: Capability,
  action: Action,
  namesResource: (capability: Capability) => boolean,
  context: CheckContext,
): Condition[] => {
  const { constraints, resources } = capability;
  const unknown = unknownConstraintsOf(capability, context.profile);
  const isOfType = capability.action === action.type;
  return [
    {
      check: 'P16',
      holds: allowsAction(capability, action),
      compared:
        isOfType && action.type === 'api:call'
          ? [{ what: 'action.method', found: action.method, expected: shown(constraints.methods) }]
          : [{ what: 'action.type', found: action.type, expected: capability.action }],
    },
    {
      check: 'P17',
      holds: unknown.length === 0,
      compared: [
        {
          what: 'constraints',
          found: shown(Object.keys(constraints)),
          expected: `none but ${shown(context.profile.constraintKeys[capability.action])}`,
        },
      ],
    },
    {
      check: 'P18',
      holds: isOfType && allowsCurrency(capability, action),
      compared:
        action.type === 'api:call'
          ? []
          : [{ what: 'action.currency', found: action.currency, expected: shown(constraints.currency) }],
    },
    amountCondition(capability, action, context),
    {
      check: 'P20',
      holds: isOfType && namesResource(capability),
      compared: [
        {
          what: 'action.resource',
          found: action.resource,
          expected: shown(resources ?? 'any'),
        },
      ],
    },
  ];
};

const amountCondition = (capability: Capability, action: Action, context: CheckContext): Condition => {
  const isOfType = capability.action === action.type;
  const amount = action.type === 'api:call' ? 0 : action.amount;
  const ceiling: Bound[] =
    action.type === 'api:call' || !isOfType
      ? []
      : [boundOf('action.amount', amount, capability.constraints.maxAmount, 'maxAmount')];
  const budget = budgetComparison(capability, amount, context);
  const bounds = [...ceiling, ...(budget?.bounds ?? [])];
  const exceeded = bounds.filter(({ holds }) => !holds);
  return {
    check: 'P19',
    holds: isOfType && allowsAmount(capability, action) && (budget?.suffices ?? true),
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
const budgetComparison = (
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
