/**
 * Assumed balances where the Receipt pins none: on a DENY, and on an ALLOW that consumed nothing. The audit first
 * assumes that nothing was spent, and then that the budgets which would change the result were used up.
 */
import type { Balance, Balances, Consumption, Decided, ReceiptBody } from '@svc/protocol';
import type { Assumption } from './assumed-facts.ts';

interface DecidedOnBudgets {
  readonly decided: Decided;
  readonly assumed: readonly Assumption[];
}

/** `decided`: the decision with nothing spent. `decideOn` decides again on other balances. */
export const assumeBudgets = (
  body: ReceiptBody,
  decided: Decided,
  decideOn: (balances: Balances) => Decided,
): DecidedOnBudgets => {
  const { balances } = decided.consulted;
  if (balances === undefined) return { decided, assumed: [] };
  const usedUp = findUsedUp(body, decided);
  const statement =
    usedUp.length === 0
      ? 'enough was left of the budgets'
      : `too little was left of ${usedUp.length === 1 ? 'one budget' : `${usedUp.length} budgets`}`;
  return {
    decided: usedUp.length === 0 ? decided : decideOn({ ...balances, capabilities: usedUp }),
    assumed: [{ path: '/protocol/checks/P19', statement }],
  };
};

/** The budgets to assume used up so that the engine reproduces the Receipt; none if it already does. */
const findUsedUp = (
  body: ReceiptBody,
  { evidence: { P19, P20 }, consumption }: Decided,
): readonly Balance[] => {
  const { checks } = body.protocol;
  if (P19 === undefined) return [];
  if (checks.P19 === false) return toUsedUp([...P19.consumptions.values()]);
  const isOtherAuthority = body.decision === 'ALLOW' && consumption !== null;
  if (P20 === undefined || (checks.P20 !== false && !isOtherAuthority)) return [];
  return toUsedUp(P20.survivors.flatMap((capability) => P19.consumptions.get(capability) ?? []));
};

/** By ascending key; two equal Capabilities are one budget. */
const toUsedUp = (budgets: readonly Consumption[]): readonly Balance[] =>
  [...new Map(budgets.map((budget) => [budget.key, usedUp(budget)])).values()].sort((a, b) =>
    a.key < b.key ? -1 : 1,
  );

const usedUp = ({ key, limits, periodStartMs, recordedAtMs }: Consumption): Balance => ({
  key,
  spentTotal: limits.total ?? 0,
  spentInPeriod: limits.perPeriod ?? 0,
  periodStartMs,
  usesSpent: limits.uses ?? 0,
  limits,
  updatedAtMs: recordedAtMs,
});
