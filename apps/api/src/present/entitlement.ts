/** An org's entitlement as the wire shows it (interface §Entitlement). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { EntitlementView } from '@svc/service';

export const presentEntitlement = ({
  orgId,
  stored,
  isComp,
  standing,
  isEnforced,
}: EntitlementView): Body<Routes['getEntitlement'], 200> => ({
  org_id: orgId,
  stored: stored !== null,
  production: stored?.production ?? null,
  production_until: timeOf(stored?.productionUntilMs),
  check_cap: stored?.checkCap ?? null,
  cap_since: timeOf(stored?.capSinceMs),
  reason: stored?.reason ?? null,
  as_of: timeOf(stored?.asOfMs),
  updated_at: timeOf(stored?.updatedAtMs),
  production_checks_since_cap: stored?.checksSinceCap ?? null,
  comp: isComp,
  effective: standing.effective,
  effective_detail: standing.detail,
  enforced: isEnforced,
});

const timeOf = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : formatTimestamp(ms);
