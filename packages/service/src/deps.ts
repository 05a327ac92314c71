/** What every use case is given. */
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
  /** Why this process does not decide for now, if it does not. */
  readonly holds: Holds;
  readonly random: Random;
  readonly crypto: CryptoPort;
  readonly identity: ServiceIdentity;
  readonly entitlements: EntitlementPolicy;
  /** The operator's own tenants, which public numbers leave out. */
  readonly selfTestOrgs: readonly OrgId[];
  /** Keys of one owner: a Principal, a relying party, an org, the operator's observers. */
  readonly maxLiveKeys: number;
  /** Principals and relying parties of one org together. */
  readonly maxMembers: number;
  /** In all, of an org that signed itself up and for which nobody pays. */
  readonly maxChangesWithoutPlan: number;
  /** What secrets of webhook endpoints are derived from. */
  readonly webhookSecrets: WebhookSecrets;
  readonly log: Log;
  readonly didResolver: DidResolver;
  readonly domainProver: DomainProver;
  /** Host names that development leads to loopback instead; empty in production. */
  readonly mappedHosts: ReadonlySet<string>;
  /** Why the way to the outside refuses a URL by its text alone, whatever the name leads to; null: it does not. */
  readonly findUrlRefusal: (url: string) => string | null;
}
