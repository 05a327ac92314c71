/** How this deployment applies entitlements (protocol §14, `SVC_ENTITLEMENTS`, `SVC_COMP_ORGS`). */
import type { OrgId } from '@svc/protocol';

export interface EntitlementPolicy {
  /** False: a check that is not covered is only logged. */
  readonly isEnforced: boolean;
  /** Orgs that never need a plan: those of the staff, canaries and self-test tenants. */
  readonly compOrgs: ReadonlySet<OrgId>;
}
