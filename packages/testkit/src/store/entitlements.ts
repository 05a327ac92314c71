/** Pushes and production checks as the service makes them, and the counts that they should lead to. */
import type { OrgId } from '@svc/protocol';
import type { EntitlementPush, EntitlementRecord, ProductionCheck, Store } from '@svc/service';
import { runSql } from './session.ts';

/** Covers everything as of now; `change` overrides. */
export const push = (change: Partial<EntitlementPush> = {}): EntitlementPush => ({
  production: 'allowed',
  productionUntilMs: null,
  checkCap: null,
  capSinceMs: null,
  reason: 'paid',
  asOfMs: Date.now(),
  ...change,
});

/** A cap on checks dated from a minute ago on. */
export const capped = (checkCap: number, change: Partial<EntitlementPush> = {}): EntitlementPush =>
  push({ checkCap, capSinceMs: Date.now() - 60_000, ...change });

export async function getEntitlement(store: Store, orgId: OrgId): Promise<EntitlementRecord> {
  const found = await store.entitlements.find(orgId);
  if (found === null) throw new Error('nothing was pushed');
  return found;
}

/** A production check as a node makes it that enforces plans, after reading the entitlement. */
export async function productionCheck(
  store: Store,
  orgId: OrgId,
  change: Partial<ProductionCheck> = {},
): Promise<ProductionCheck> {
  const entitlement = await store.entitlements.find(orgId);
  return {
    orgId,
    entitlementVersion: entitlement?.version ?? 0,
    isCapped: (entitlement?.checkCap ?? null) !== null,
    isEnforced: true,
    ...change,
  };
}

/** The right value of `checksSinceCap`, counted from the receipts one by one. */
export async function recount(url: string, { orgId, checkCap, capSinceMs }: EntitlementRecord) {
  if (checkCap === null) return null;
  const [row] = await runSql<{ checks: number }>(
    url,
    `select count(*)::integer as checks from receipts r join relying_parties rp on rp.did = r.relying_party
     where rp.org_id = $1 and r.production_check and r.evaluated_at >= to_timestamp($2 / 1000.0)`,
    [orgId, capSinceMs],
  );
  return row?.checks;
}
