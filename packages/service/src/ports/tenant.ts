/**
 * On whose account work waits in line: whatever tenants share is shared between orgs first, and within an org between its
 * subjects, so that a stolen key of one member cannot keep the org from acting.
 */
export interface Tenant {
  /** Those who authenticated, all together, take turns with those who did not. */
  readonly crowd: 'tenants' | 'public';
  /** The org, or else what stands alone: a subject outside every org, an address. */
  readonly org: string;
  readonly subject: string;
}
