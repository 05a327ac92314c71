/**
 * Whether an org's entitlement allows a production check at an instant (interface §Entitlement, `effective`). The
 * commit of decisions applies the same rules, under the org's lock.
 */
import { formatTimestamp } from '@svc/protocol';
import type { EntitlementRecord } from '../ports/entitlements.ts';

/** `detail` says why, for people. */
export type Standing =
  | { readonly effective: 'allowed'; readonly detail: string | null }
  | { readonly effective: 'blocked'; readonly detail: string };

/** `entitlement` is null for an org that has none. */
export const standingOf = (
  entitlement: EntitlementRecord | null,
  { isComp, nowMs }: { readonly isComp: boolean; readonly nowMs: number },
): Standing => {
  if (isComp) return { effective: 'allowed', detail: 'this org never needs a plan' };
  const detail = entitlement === null ? 'this org has no plan' : obstacleOf(entitlement, nowMs);
  return detail === null ? { effective: 'allowed', detail } : { effective: 'blocked', detail };
};

const obstacleOf = (
  { production, productionUntilMs, checkCap, capSinceMs, checksSinceCap, reason }: EntitlementRecord,
  nowMs: number,
): string | null => {
  if (production === 'blocked') return `production is blocked (${reason})`;
  if (productionUntilMs !== null && productionUntilMs <= nowMs)
    return `production ended at ${formatTimestamp(productionUntilMs)}`;
  if (checkCap === null || capSinceMs === null || checksSinceCap === null) return null;
  const isReached = capSinceMs <= nowMs && checkCap <= checksSinceCap;
  return isReached ? `all ${checkCap} checks since ${formatTimestamp(capSinceMs)} are used` : null;
};
