/**
 * The service's own hosts, which must not be reached through a URL from others, whatever name leads to them. Their
 * addresses are looked up at the time of the request, like those of the target, so that neither can be long out of
 * date. If the lookup fails, no request is sent.
 */
import net from 'node:net';
import { OutboundFault, type Refused, refused, type Unreachable } from './answers.ts';
import type { DnsPort } from './dns.ts';

export interface ForbiddenHosts {
  /** Host names in lower case, or IP addresses. */
  readonly hosts: readonly string[];
  /** Further addresses: those of this machine. Read again for every request. */
  addresses(): readonly string[];
}

const OWN_HOST = 'a host of the service itself';

export const findForbiddenName = (hostname: string, { hosts }: ForbiddenHosts): Refused | null => {
  const name = hostname.replace(/\.$/, '');
  return hosts.some((own) => name === own || name.endsWith(`.${own}`)) ? refused('name', OWN_HOST) : null;
};

/** Throws OutboundFault if the forbidden addresses cannot be determined. */
export const findForbiddenAddress = async (
  addresses: readonly string[],
  { hosts, addresses: more }: ForbiddenHosts,
  dns: DnsPort,
  signal: AbortSignal,
): Promise<Refused | null> => {
  const ofHosts = await Promise.all(hosts.map((host) => addressesOf(host, dns, signal)));
  const forbidden = new Set([...ofHosts.flat(), ...more()].map(canonical));
  return addresses.some((address) => forbidden.has(canonical(address))) ? refused('address', OWN_HOST) : null;
};

const addressesOf = async (host: string, dns: DnsPort, signal: AbortSignal): Promise<readonly string[]> => {
  if (net.isIP(unbracketed(host)) !== 0) return [unbracketed(host)];
  // A name without a dot can resolve only inside the own network.
  if (!host.includes('.')) return [];
  const answer = await dns.addresses(host, signal);
  if (answer.kind === 'absent') return [];
  if (answer.kind === 'unreachable') throw new OutboundFault(unknown(answer));
  // Otherwise forbidden addresses of the unanswered family would pass.
  if (answer.failed !== undefined) throw new OutboundFault(unknown(answer.failed));
  return answer.addresses;
};

const unknown = ({ fault }: Unreachable): Unreachable => ({
  kind: 'unreachable',
  fault,
  why: 'the addresses of the service cannot be looked up',
});

const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Makes the spelling of an address unique. */
const canonical = (text: string): string => {
  const address = text.replace(/%.*$/, '');
  const family = net.isIP(address);
  return family === 0
    ? address
    : new net.SocketAddress({ address, family: family === 6 ? 'ipv6' : 'ipv4' }).address;
};
