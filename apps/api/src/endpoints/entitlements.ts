/** An org's entitlement, which the console and the operator read and set (interface §Entitlement). */
import type { Body, Routes } from '@svc/contract';
import { type EntitlementView, getEntitlement, putEntitlement, type ServiceDeps } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const entitlementEndpoints = (deps: ServiceDeps): HandlersOf<'entitlements'> => ({
  getEntitlement: async ({ params }) => {
    const entitlement = await getEntitlement(deps, params.org_id);
    return { status: 200, body: presentEntitlement(entitlement) };
  },

  putEntitlement: async ({ params, body }) => {
    const { applied, ...entitlement } = await putEntitlement(deps, params.org_id, {
      production: body.production,
      productionUntilMs: body.production_until,
      checkCap: body.check_cap,
      capSinceMs: body.cap_since,
      reason: body.reason,
      asOfMs: body.as_of,
    });
    return { status: 200, body: { ...presentEntitlement(entitlement), applied } };
  },
});

const presentEntitlement = ({
  orgId,
  stored,
  isComp,
  standing,
  isEnforced,
}: EntitlementView): Body<Routes['getEntitlement'], 200> => ({
  org_id: orgId,
  stored: stored !== null,
  production: stored?.production ?? null,
  production_until: formatTimestampOrNull(stored?.productionUntilMs ?? null),
  check_cap: stored?.checkCap ?? null,
  cap_since: formatTimestampOrNull(stored?.capSinceMs ?? null),
  reason: stored?.reason ?? null,
  as_of: formatTimestampOrNull(stored?.asOfMs ?? null),
  updated_at: formatTimestampOrNull(stored?.updatedAtMs ?? null),
  production_checks_since_cap: stored?.checksSinceCap ?? null,
  comp: isComp,
  effective: standing.effective,
  effective_detail: standing.detail,
  enforced: isEnforced,
});
