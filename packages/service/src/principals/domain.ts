/** The service's domain and the DIDs it hosts under it (interface §Principal, §Relying party). */
import type { DidWeb } from '@svc/protocol';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';

type Identity = Pick<ServiceIdentity, 'domain' | 'env'>;
type Named = Pick<ServiceIdentity, 'domain'>;

export const managedPrincipalDid = ({ domain }: Named, slug: string): DidWeb =>
  `did:web:${domain}:org:${slug}` as DidWeb;

/** The slug of the sandbox's Principal and relying party; nobody can register it (interface §SelfServeStarter). */
export const SANDBOX_SLUG = 'sandbox';

export const managedRelyingPartyDid = ({ domain }: Named, slug: string): DidWeb =>
  `did:web:${domain}:rp:${slug}` as DidWeb;

/** True for the form of a managed relying party's DID of this service, whether there is one or not. */
export const isManagedRelyingPartyDid = (identity: Identity, did: string): boolean => {
  const head = managedRelyingPartyDid(identity, '');
  return did.startsWith(head) && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(did.slice(head.length));
};

/** The domain part of a did:web DID, unchanged. */
export const domainOf = (did: string): string => did.split(':')[2] ?? '';

/** The Principal and the relying party of the sandbox of a service that has, or had, this DID. */
export const sandboxDids = (service: DidWeb): readonly [DidWeb, DidWeb] => {
  const named = { domain: domainOf(service) };
  return [managedPrincipalDid(named, SANDBOX_SLUG), managedRelyingPartyDid(named, SANDBOX_SLUG)];
};

/** True for DIDs under the service's own domain or a subdomain of it; only the service registers those. */
export const isServiceManagedDomain = ({ domain }: Identity, did: string): boolean => {
  const host = hostOf(domainOf(did));
  const own = hostOf(domain);
  return host === own || host.endsWith(`.${own}`);
};

/** `localhost%3A8080` → `localhost`. */
export const hostOf = (domain: string): string => domain.split('%3A')[0] ?? domain;

/** `localhost%3A8080` → `localhost:8080`, the form used in a URL. */
export const authorityOf = (domain: string): string => domain.replace('%3A', ':');

/** False for a domain with a port outside of development (protocol §13). */
export const isAllowedDomain = ({ env }: Identity, did: string): boolean =>
  env === 'development' || !domainOf(did).includes('%3A');
