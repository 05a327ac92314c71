/**
 * The account for which work waits in a queue. Shared resources are divided between orgs first, and within an org
 * between its subjects, so that a stolen key of one member cannot block the org.
 */
export interface Tenant {
  /**
   * Crowds take turns, however many orgs each has. `newcomers`: orgs that signed themselves up and for which nobody
   * pays. They share the turns of one crowd, because one person can create any number of them. `public`: callers that
   * did not authenticate.
   */
  readonly crowd: 'tenants' | 'newcomers' | 'public';
  /** The org; for a caller without an org, its subject or its address. */
  readonly org: string;
  /** The subject with its class, because one DID can be a Principal of one customer and a relying party of another. */
  readonly subject: string;
}
