/**
 * The client's address, as limits use it. `X-Forwarded-For` is trusted only for the configured number of proxies,
 * counted from our side; the client may have written the entries beyond.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6, type Socket } from 'node:net';
import type { Caller } from './caller.ts';

export const clientIpOf = (request: IncomingMessage, trustProxyHops: number): string => {
  const socketIp = socketAddressOf(request.socket);
  if (trustProxyHops === 0) return socketIp;
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const chain = [...forwarded.map((item) => item.trim()).filter((item) => item !== ''), socketIp];
  const ip = withoutMapping(chain[Math.max(0, chain.length - 1 - trustProxyHops)] ?? socketIp);
  return isIP(ip) === 0 ? socketIp : ip;
};

export const socketAddressOf = ({ remoteAddress }: Socket): string =>
  withoutMapping(remoteAddress ?? 'unknown');

const withoutMapping = (ip: string): string => {
  const tail = /^::ffff:([0-9.]+)$/i.exec(ip)?.[1];
  return tail !== undefined && isIPv4(tail) ? tail : ip;
};

/**
 * The address of the customer for whom a call is made. The console forwards its customers' addresses in
 * `x-svc-client-ip` (interface §POST /orgs/self-serve); the header of any other caller is ignored.
 */
export const customerIpOf = (caller: Caller | null, request: IncomingMessage, clientIp: string): string => {
  if (caller?.class !== 'provision') return clientIp;
  const forwarded = withoutMapping([request.headers['x-svc-client-ip'] ?? []].flat().join(',').trim());
  return isIP(forwarded) === 0 ? clientIp : forwarded;
};

/** Number of networks that an address is counted under, from its own to the widest. */
export const NETWORK_WIDTHS = 3;

/**
 * The key that a client is counted under: an IPv4 address, or the /64 that one IPv6 subscriber holds. With `width` 1
 * and 2, the networks around it: /24 and /16, or /48 and /32.
 */
export const limiterKeyOf = (ip: string, width = 0): string => {
  if (isIPv6(ip)) return `${prefixOf(ip, 4 - width)}::/${64 - 16 * width}`;
  if (width === 0 || !isIPv4(ip)) return ip;
  return `${ip.split('.', 4 - width).join('.')}/${32 - 8 * width}`;
};

const prefixOf = (ip: string, groups: number): string => {
  const [head = '', tail] = ip.split('%', 1).join('').split('::');
  const left = groupsOf(head);
  if (tail !== undefined) {
    const right = groupsOf(tail);
    while (left.length + right.length < 8) left.push(0);
    left.push(...right);
  }
  return left
    .slice(0, groups)
    .map((group) => group.toString(16))
    .join(':');
};

/** The 16-bit groups of a part of an IPv6 address; a dotted tail counts as two. */
const groupsOf = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((group) => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)];
        const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
        return [a * 256 + b, c * 256 + d];
      });
