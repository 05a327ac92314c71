/**
 * Which endpoints customers may name, for conformance runs (interface §Conformance) and for events. Only the text of
 * the URL is judged here. Hosts of the service are refused here by name, and again by address when they are connected
 * to.
 */
import { invalidRequest } from '../errors.ts';
import { hostOf } from '../principals/domain.ts';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';

type Identity = Pick<ServiceIdentity, 'baseUrl' | 'statusBaseUrl' | 'domain'>;

/** Hosts of the service, in lower case and without a port. Names under its domain are its own too. */
export const serviceHostsOf = ({ baseUrl, statusBaseUrl, domain }: Identity): readonly string[] => [
  ...new Set([new URL(baseUrl).hostname, new URL(statusBaseUrl).hostname, hostOf(domain)]),
];

/**
 * The URL in its normal form. `member`: the request member that the message names. `mappedHosts`: names (or
 * `name:port`) that development maps to loopback; only these may be http. Throws 400.
 */
export const parseEndpoint = (
  text: string,
  identity: Identity,
  mappedHosts: ReadonlySet<string>,
  member = 'endpoint',
): string => {
  const refused = (rule: string) => invalidRequest(`${member}: ${rule}`);
  const url = URL.canParse(text) ? new URL(text) : null;
  // The text must show a reader the host that is really asked.
  if (url === null || (url.href !== text && url.href !== `${text}/`))
    throw refused(`must be a URL in its normal form${url === null ? '' : `: ${url.href}`}`);
  if (url.username !== '' || url.password !== '') throw refused('must carry no credentials');
  if (url.href.includes('#')) throw refused('must have no fragment');
  if (url.href.length > MAX_CHARS) throw refused(`must have at most ${MAX_CHARS} characters`);
  const isMapped = mappedHosts.has(url.host) || mappedHosts.has(url.hostname);
  if (url.protocol !== 'https:' && !(isMapped && url.protocol === 'http:')) throw refused('must be https');
  const name = url.hostname.replace(/(?<!\.)\.+$/, '');
  const isOwn = serviceHostsOf(identity).some((own) => name === own || name.endsWith(`.${own}`));
  if (isOwn) throw refused('must not be a host of the service');
  return url.href;
};

const MAX_CHARS = 2048;
