/**
 * Where a URL leads, decided from its text alone. Outside development: `https`, port 443, a public host name. The text
 * must be identical to what the URL parser makes of it, so that no two parsers see different hosts in it.
 *
 * In development the names in `SVC_OUTBOUND_MAP` lead to loopback instead (protocol §14), with either scheme and any
 * port; the rules above apply to every other name.
 */
import { type Refused, refused } from './answers.ts';
import { findHostNameRefusal } from './names.ts';

/** Host name (or `host:port`) → loopback base URL, and DNS name → TXT answers. */
export interface OutboundMap {
  readonly hosts: Readonly<Record<string, string>>;
  readonly txt: Readonly<Record<string, readonly string[]>>;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export type Target =
  | { readonly kind: 'public'; readonly url: URL }
  | { readonly kind: 'mapped'; readonly url: URL; readonly endpoints: readonly Endpoint[] };

const MAX_URL_CHARS = 2048;
const LOOPBACK_BASE = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?$/;

export const parseTarget = (text: string, map: OutboundMap | null): Target | Refused => {
  if (text.length > MAX_URL_CHARS) return refused('url', 'longer than 2048 characters');
  const url = parseCanonicalUrl(text);
  if (url === null) return refused('url', 'not a URL in its canonical spelling');
  if (url.username !== '' || url.password !== '') return refused('url', 'carries credentials');
  if (url.hash !== '' || text.endsWith('#')) return refused('url', 'carries a fragment');
  const base = map === null ? null : findMappedBase(url, map);
  if (base !== null) return { kind: 'mapped', url, endpoints: parseLoopbackBase(base) };
  if (url.protocol !== 'https:') return refused('url', 'not https');
  if (url.port !== '') return refused('url', 'a port other than 443');
  return findHostNameRefusal(url.hostname) ?? { kind: 'public', url };
};

/** The loopback addresses for a base URL of the map. Throws RangeError for any other address. */
export const parseLoopbackBase = (base: string): readonly Endpoint[] => {
  const [, host = '', portText = '80'] = LOOPBACK_BASE.exec(base) ?? [];
  const port = Number(portText);
  if (host === '' || port < 1 || port > 65_535) throw new RangeError('outbound map: not a loopback base URL');
  const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host === '[::1]' ? '::1' : host];
  return addresses.map((address) => ({ address, port }));
};

const parseCanonicalUrl = (text: string): URL | null => {
  try {
    const url = new URL(text);
    return url.href === text ? url : null;
  } catch {
    return null;
  }
};

const findMappedBase = (url: URL, { hosts }: OutboundMap): string | null => {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  const name = [url.host, url.hostname].find((key) => Object.hasOwn(hosts, key));
  return name === undefined ? null : (hosts[name] ?? null);
};
