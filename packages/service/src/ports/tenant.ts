/**
 * On whose account work waits in line: whatever tenants share is shared between orgs first, and within an org between its
 * subjects, so that a stolen key of one member cannot keep the org from acting.
 */
export interface Tenant {
  /**
   * Crowds take turns, however many orgs there are in each. `newcomers`: orgs that signed themselves up and that nobody
   * pays for; whoever can make such orgs without end has the share of one crowd. `public`: those who did not authenticate.
   */
  readonly crowd: 'tenants' | 'newcomers' | 'public';
  /** The org, or else what stands alone: a subject outside every org, an address. */
  readonly org: string;
  /** With its class: one DID can be a Principal of one customer and a relying party of another. */
  readonly subject: string;
}
