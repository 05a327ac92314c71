/**
 * Decides which IP addresses are public; the guard connects to no others. The tables contain all entries of the IANA
 * special-purpose address registries (RFC 6890), even "globally reachable" ones, because no customer's host has such an
 * address. All ranges that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are refused, so that none can hide a
 * private address.
 *
 * ipaddr.js is a second check: an address passes only if both agree.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const SPECIAL_IPV4 = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/24', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  // Not in the registry: on Azure this public address is the virtual machine's own host.
  ['168.63.129.16/32', 'platform service'],
] as const;

/** Only this block is allocated for global unicast (RFC 4291 §2.4); the rest of IPv6 is special in some way. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

const SPECIAL_IPV6 = [
  ['2001::/23', 'IETF protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
] as const;

const ipv4Ranges = SPECIAL_IPV4.map(([cidr, use]) => ({ cidr: ipaddr.IPv4.parseCIDR(cidr), use }));
const ipv6Ranges = SPECIAL_IPV6.map(([cidr, use]) => ({ cidr: ipaddr.IPv6.parseCIDR(cidr), use }));

/** The special use of `text` as an address ("loopback"), or null for a public address. */
export const findSpecialUse = (text: string): string | null => {
  // isIP accepts only canonical notations; ipaddr.js alone would also read octal and short ones. A zone index
  // (`fe80::1%eth0`) passes isIP but does not occur in DNS answers.
  if (isIP(text) === 0 || text.includes('%')) return 'not an IP address';
  const address = ipaddr.parse(text);
  const use = address instanceof ipaddr.IPv4 ? specialIpv4(address) : specialIpv6(address);
  if (use !== null) return use;
  const range = address.range();
  return range === 'unicast' ? null : range;
};

const specialIpv4 = (address: ipaddr.IPv4): string | null =>
  ipv4Ranges.find(({ cidr }) => address.match(cidr))?.use ?? null;

const specialIpv6 = (address: ipaddr.IPv6): string | null =>
  address.match(GLOBAL_UNICAST)
    ? (ipv6Ranges.find(({ cidr }) => address.match(cidr))?.use ?? null)
    : 'outside global unicast';
