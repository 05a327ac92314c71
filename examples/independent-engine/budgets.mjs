// Consumable Grants (docs/protocol.md §11): what is left of a Capability's budget, and what a Receipt says about it.
import { canonical, sha256 } from './json.mjs';

export function hasBudget({ constraints }) {
  return ['maxTotal', 'maxPerPeriod', 'maxUses'].some((key) => key in constraints);
}

const keyOf = (capability) => sha256(canonical(capability));

/** Whether every limit of the Capability leaves room for this amount and for one more use. */
export function suffices(capability, balances, amount, nowMs) {
  const { maxTotal, maxPerPeriod, maxUses, period } = capability.constraints;
  const spent = balances.capabilities.find(({ key }) => key === keyOf(capability));
  const isWithin = (limit, used) => limit === undefined || amount <= Math.max(0, limit - used);
  const isOfThisPeriod = spent?.period_start && Date.parse(spent.period_start) >= startOf(period, nowMs);
  return (
    isWithin(maxTotal, spent?.spent_total ?? 0) &&
    isWithin(maxPerPeriod, isOfThisPeriod ? spent.spent_in_period : 0) &&
    (maxUses === undefined || (spent?.uses_spent ?? 0) < maxUses)
  );
}

/** Start of the calendar window in UTC that contains this instant. */
function startOf(period, nowMs) {
  const start = new Date(nowMs);
  if (period === 'hour') return start.setUTCMinutes(0, 0, 0);
  if (period === 'month') start.setUTCDate(1);
  if (period === 'week') start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7));
  return start.setUTCHours(0, 0, 0, 0);
}

export function consumptionOf(capability, { grant_id, version, capabilities }) {
  return {
    key: keyOf(capability),
    version,
    snapshot_hash: sha256(canonical({ grant_id, version, capabilities })),
  };
}
