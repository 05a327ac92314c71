/** The dependencies of every use case. */
import type { OrgId } from '@svc/protocol';
import type { EntitlementPolicy } from './entitlements/entitlement-policy.ts';
import type { WebhookSecrets } from './events/webhook-secrets.ts';
import type { Holds } from './lib/holds.ts';
import type { DidResolver, DomainProver } from './ports/hosted-principals.ts';
import type { Clock, CryptoPort, Log, Random } from './ports/platform.ts';
import type { Store } from './ports/store.ts';
import type { ServiceIdentity } from './service-keys/service-identity.ts';

export interface ServiceDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The reasons for which this process makes no decisions at present. */
  readonly holds: Holds;
  readonly random: Random;
  readonly crypto: CryptoPort;
  readonly identity: ServiceIdentity;
  readonly entitlements: EntitlementPolicy;
  /** The operator's own tenants, which are left out of public numbers. */
  readonly selfTestOrgs: readonly OrgId[];
  /** Most live keys of one owner: a Principal, a relying party, an org, the operator's observers. */
  readonly maxLiveKeys: number;
  /** Most Principals and relying parties of one org together. */
  readonly maxMembers: number;
  /** Most changes, in all, of an org that signed itself up and for which nobody pays. */
  readonly maxChangesWithoutPlan: number;
  /** Source from which secrets of webhook endpoints are derived. */
  readonly webhookSecrets: WebhookSecrets;
  readonly log: Log;
  readonly didResolver: DidResolver;
  readonly domainProver: DomainProver;
  /** Host names that are mapped to loopback in development; empty in production. */
  readonly mappedHosts: ReadonlySet<string>;
  /**
   * Why the outbound guard refuses a URL by its text alone, without resolving the name; null: it does not refuse it.
   */
  readonly findUrlRefusal: (url: string) => string | null;
}
