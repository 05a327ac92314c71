/** Reads and stores an org's entitlement (interface §Entitlement), for the operator and the console. */
import type { OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest, notFound } from '../errors.ts';
import { logEntitlement } from '../fence/revocation-log.ts';
import type { EntitlementPush, EntitlementRecord } from '../ports/entitlements.ts';
import { type Standing, standingOf } from './entitlement-standing.ts';

export interface EntitlementView {
  readonly orgId: OrgId;
  readonly stored: EntitlementRecord | null;
  readonly isComp: boolean;
  readonly standing: Standing;
  readonly isEnforced: boolean;
}

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'entitlements' | 'log'>;

/** Maximum time by which the console's clock may be ahead (interface §Limits). */
const MAX_AHEAD_MS = 5 * 60_000;

/** `NOT_FOUND` when there is no such org. */
export const getEntitlement = async (deps: Deps, orgId: OrgId): Promise<EntitlementView> => {
  const { store, clock, entitlements } = deps;
  if (!(await store.orgs.exists(orgId))) throw notFound(`No org ${orgId}.`);
  const stored = await store.entitlements.find(orgId);
  const isComp = entitlements.compOrgs.has(orgId);
  const standing = standingOf(stored, { isComp, nowMs: clock.nowMs() });
  return { orgId, stored, isComp, standing, isEnforced: entitlements.isEnforced };
};

/**
 * Stores the push unless a newer one is stored, and returns what is stored afterwards. `INVALID_REQUEST` when `asOfMs`
 * is too far ahead, `NOT_FOUND` when there is no such org.
 */
export const putEntitlement = async (
  deps: Deps,
  orgId: OrgId,
  push: EntitlementPush,
): Promise<EntitlementView & { readonly applied: boolean }> => {
  if (!(await deps.store.orgs.exists(orgId))) throw notFound(`No org ${orgId}.`);
  if (push.asOfMs > deps.clock.nowMs() + MAX_AHEAD_MS)
    throw invalidRequest('as_of: must be at most 5 minutes ahead of this service’s clock.');
  logEntitlement(deps, orgId, push);
  const applied = await deps.store.putEntitlement(orgId, push);
  return { ...(await getEntitlement(deps, orgId)), applied };
};
