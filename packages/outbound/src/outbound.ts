/**
 * The one way to the outside (protocol §13). What may be asked for is decided by `parseTarget`; a public name is then
 * resolved once, every address in the answer must be public, and the connection goes to one of exactly those.
 */
import { FairLimiter, type Tenant, tracedCall, traceparent } from '@svc/service';
import { findSpecialUse } from './addresses.ts';
import {
  type OutboundAnswer,
  OutboundFault,
  type Refused,
  refused,
  type TxtAnswer,
  unreachable,
} from './answers.ts';
import { withDeadline } from './deadline.ts';
import { dialFirst } from './dial.ts';
import { type DnsPort, nodeDns } from './dns.ts';
import { type Exchange, exchange } from './exchange.ts';
import { type ForbiddenHosts, findForbiddenAddress, findForbiddenName } from './forbidden.ts';
import { findDnsNameRefusal } from './names.ts';
import { type Endpoint, type OutboundMap, parseLoopbackBase, parseTarget, type Target } from './target.ts';

export interface OutboundOptions {
  readonly mode: 'production' | 'development';
  /** Must be null in production. */
  readonly outboundMap: OutboundMap | null;
  /** Default: the system's resolvers. */
  readonly dns?: DnsPort;
  /**
   * Hosts that are never asked, by whatever name: their names and those under them are refused, and every address that
   * one of them has when a request is made. For callers that take URLs from others.
   */
  readonly forbidden?: ForbiddenHosts;
  /** Requests and TXT questions under way at once; default 64. Four times as many may wait. */
  readonly maxConcurrent?: number;
}

/** For tests, which cannot reach public addresses. Applied after every check; no configuration leads here. */
export interface TestSeams {
  /** Where to connect instead of a checked address. */
  readonly connectTo?: (checked: Endpoint) => Endpoint;
  /** A certificate authority to trust instead of the system's, as PEM. */
  readonly ca?: string;
}

export interface RequestOptions {
  /** Bytes of the body at most; default 65,536. Null: it is not read, whatever its length. */
  readonly maxBytes?: number | null;
  /** How many bytes of a 400's body are read, if it is no longer; default 0: none. */
  readonly errorBytes?: number;
  /** Lower-case names; none of those that the guard sets itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For everything, waiting and DNS included; default 3,000. */
  readonly timeoutMs?: number;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Media type of what is sent; default `application/json`. */
  readonly contentType?: string;
}

export interface Outbound {
  /** The same for a tenant: those who wait for a place take turns, and none has all of them. */
  as(tenant: Tenant): Outbound;
  get(url: string, options?: RequestOptions): Promise<OutboundAnswer>;
  /** Sends text, of `contentType`. Never sent a second time. */
  post(url: string, text: string, options?: RequestOptions): Promise<OutboundAnswer>;
  /** Why a URL is refused by its text alone, before anybody is asked; null: it is not. */
  findRefusal(url: string): string | null;
  resolveTxt(name: string, options?: Pick<RequestOptions, 'timeoutMs'>): Promise<TxtAnswer>;
}

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 3000;
/** No caller asks for longer. */
const MAX_TIMEOUT_MS = 60_000;
const MAX_CONCURRENT = 64;
const WAITING_PER_PLACE = 4;
/** One tenant has as many of the places: two checks of a domain at once. */
const TENANTS_AT_ONCE = 10;
const HTTPS_PORT = 443;
/** Each is examined, and a message of DNS can hold thousands. */
const MAX_ADDRESSES = 64;

/** Throws RangeError for a map that is not loopback or not in development. */
export const createOutbound = (options: OutboundOptions, seams: TestSeams = {}): Outbound => {
  const { outboundMap, dns = nodeDns(), maxConcurrent = MAX_CONCURRENT, forbidden = null } = options;
  requireDevelopmentMap(options);
  const places = new FairLimiter({
    atOnce: maxConcurrent,
    atOncePerOrg: Math.max(1, Math.floor(maxConcurrent / TENANTS_AT_ONCE)),
    maxWaiting: maxConcurrent * WAITING_PER_PLACE,
    // Every request has a deadline of its own, at which it leaves the line.
    waitMs: MAX_TIMEOUT_MS,
    refuse: () => new OutboundFault(unreachable('busy', 'too many outbound requests under way')),
  });

  /** Runs within the limits; what the outside did wrong comes back as a value. */
  const guarded = async <T>(
    tenant: Tenant | null,
    timeoutMs: number,
    task: (signal: AbortSignal) => Promise<T>,
  ) => {
    try {
      return await withDeadline(timeoutMs, (signal) => places.run({ tenant }, () => task(signal), signal));
    } catch (error) {
      if (error instanceof OutboundFault) return error.answer;
      throw error;
    }
  };

  const request = async (
    tenant: Tenant | null,
    urlText: string,
    method: Exchange['method'],
    body: string | null,
    {
      maxBytes = MAX_BYTES,
      timeoutMs = TIMEOUT_MS,
      accept = 'application/json',
      contentType = 'application/json',
      errorBytes = 0,
      headers = {},
    }: RequestOptions = {},
  ): Promise<OutboundAnswer> => {
    const target = parseTarget(urlText, outboundMap);
    if (target.kind === 'refused') return target;
    const { url } = target;
    const refusal = forbidden === null ? null : findForbiddenName(url.hostname, forbidden);
    if (refusal !== null) return refusal;
    const ask = () =>
      guarded(tenant, timeoutMs, async (signal) => {
        const endpoints = await endpointsOf(target, dns, forbidden, seams, signal);
        const secure = target.kind === 'public' ? { servername: url.hostname, ca: seams.ca } : null;
        return exchange(
          {
            url,
            method,
            accept,
            body,
            contentType,
            maxBytes,
            errorBytes,
            headers,
            traceparent: traceparent(),
          },
          (mostBytes) => dialFirst(endpoints, secure, mostBytes, signal),
          signal,
        );
      });
    return tracedCall('ask', { 'http.request.method': method, 'server.address': url.hostname }, ask);
  };

  const outboundAs = (tenant: Tenant | null): Outbound => ({
    as: outboundAs,
    get: (url, requestOptions) => request(tenant, url, 'GET', null, requestOptions),
    post: (url, text, requestOptions) => request(tenant, url, 'POST', text, requestOptions),
    findRefusal: (url) => {
      const target = parseTarget(url, outboundMap);
      return target.kind === 'refused' ? target.why : null;
    },
    resolveTxt: async (name, { timeoutMs = TIMEOUT_MS } = {}) =>
      findMappedTxt(name, outboundMap) ??
      findDnsNameRefusal(name) ??
      (await guarded(tenant, timeoutMs, (signal) => dns.txt(name, signal))),
  });
  return outboundAs(null);
};

const requireDevelopmentMap = ({ mode, outboundMap }: OutboundOptions): void => {
  if (outboundMap === null) return;
  if (mode !== 'development') throw new RangeError('an outbound map is for development only');
  for (const base of Object.values(outboundMap.hosts)) parseLoopbackBase(base);
};

/** Addresses to connect to. Throws OutboundFault when there are none or one of them is not public. */
const endpointsOf = async (
  target: Target,
  dns: DnsPort,
  forbidden: ForbiddenHosts | null,
  { connectTo }: TestSeams,
  signal: AbortSignal,
): Promise<readonly Endpoint[]> => {
  if (target.kind === 'mapped') return target.endpoints;
  const answer = await dns.addresses(target.url.hostname, signal);
  if (signal.aborted) throw signal.reason;
  if (answer.kind === 'unreachable') throw new OutboundFault(answer);
  if (answer.kind === 'absent' || answer.addresses.length === 0)
    throw new OutboundFault(unreachable('no-address', 'the host name has no address'));
  if (answer.addresses.length > MAX_ADDRESSES)
    throw new OutboundFault(unreachable('dns', `DNS: more than ${MAX_ADDRESSES} addresses`));
  const refusal =
    findAddressRefusal(answer.addresses) ??
    (forbidden === null ? null : await findForbiddenAddress(answer.addresses, forbidden, dns, signal));
  if (signal.aborted) throw signal.reason;
  if (refusal !== null) throw new OutboundFault(refusal);
  const checked = [...new Set(answer.addresses)].map((address) => ({ address, port: HTTPS_PORT }));
  return connectTo === undefined ? checked : checked.map(connectTo);
};

/** One address that is not public spoils the answer: a name that leads inside has no honest use. */
const findAddressRefusal = (addresses: readonly string[]): Refused | null => {
  for (const address of addresses) {
    const use = findSpecialUse(address);
    // The address itself stays unsaid: it may be what a resolver of ours knows about the inside.
    if (use !== null)
      return refused('address', `the host name leads to an address that is not public (${use})`);
  }
  return null;
};

/** The map also stands in for the DNS of the hosts that it names, so that local tests need no resolver. */
const findMappedTxt = (name: string, map: OutboundMap | null): TxtAnswer | null => {
  if (map === null) return null;
  const records = Object.hasOwn(map.txt, name) ? map.txt[name] : undefined;
  if (records !== undefined) return records.length === 0 ? { kind: 'absent' } : { kind: 'records', records };
  const isMappedHost = Object.keys(map.hosts).some((host) => name.endsWith(`.${host.split(':')[0]}`));
  return isMappedHost ? { kind: 'absent' } : null;
};
