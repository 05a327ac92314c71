/**
 * The only way for requests to leave the service (protocol §13). `parseTarget` decides what may be requested. A public
 * name is then resolved once, every address in the answer must be public, and the connection goes to one of exactly
 * those.
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
  /** The system's resolvers unless given. */
  readonly dns?: DnsPort;
  /**
   * Hosts that are never requested, under any name. Refused are their names and subdomains, and every address that one
   * of them has at the time of the request. For callers that get URLs from others.
   */
  readonly forbidden?: ForbiddenHosts;
  /** Requests and TXT questions under way at once; default 64. Four times as many may wait. */
  readonly maxConcurrent?: number;
}

/** For tests, which cannot reach public addresses. Applied after every check; no configuration can set them. */
export interface TestSeams {
  /** Maps a checked address to the one to connect to. */
  readonly connectTo?: (checked: Endpoint) => Endpoint;
  /** A certificate authority, as PEM, to trust instead of the system's. */
  readonly ca?: string;
}

export interface RequestOptions {
  /** Largest body in bytes; default 65,536. Null: the body is not read, whatever its length. */
  readonly maxBytes?: number | null;
  /** Largest body of a 400 that is read, in bytes; default 0: none is read. */
  readonly errorBytes?: number;
  /** Names in lower case; none that the guard sets itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time for everything, waiting and DNS included; default 3,000. */
  readonly timeoutMs?: number;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Media type of the sent body; default `application/json`. */
  readonly contentType?: string;
}

export interface Outbound {
  /** The same for a tenant: waiting tenants take turns, and none can use all places. */
  as(tenant: Tenant): Outbound;
  get(url: string, options?: RequestOptions): Promise<OutboundAnswer>;
  /** Sends text of `contentType`. Never repeated. */
  post(url: string, text: string, options?: RequestOptions): Promise<OutboundAnswer>;
  /** Why a URL is refused by its text alone, before any request, or null. */
  findRefusal(url: string): string | null;
  resolveTxt(name: string, options?: Pick<RequestOptions, 'timeoutMs'>): Promise<TxtAnswer>;
}

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 3000;
/** No caller uses a longer timeout. */
const MAX_TIMEOUT_MS = 60_000;
const MAX_CONCURRENT = 64;
const WAITING_PER_PLACE = 4;
/** A tenant may use one place in ten: six of the default 64, enough for two checks of a domain at once. */
const TENANTS_AT_ONCE = 10;
const HTTPS_PORT = 443;
/** Each address is checked, and a DNS message can contain thousands. */
const MAX_ADDRESSES = 64;

/** Throws RangeError for a map that is not loopback or not in development. */
export const createOutbound = (options: OutboundOptions, seams: TestSeams = {}): Outbound => {
  const { outboundMap, dns = nodeDns(), maxConcurrent = MAX_CONCURRENT, forbidden = null } = options;
  requireDevelopmentMap(options);
  const places = new FairLimiter({
    atOnce: maxConcurrent,
    atOncePerOrg: Math.max(1, Math.floor(maxConcurrent / TENANTS_AT_ONCE)),
    maxWaiting: maxConcurrent * WAITING_PER_PLACE,
    // Every request has its own deadline, at which it leaves the queue.
    waitMs: MAX_TIMEOUT_MS,
    refuse: () => new OutboundFault(unreachable('busy', 'too many outbound requests under way')),
  });

  /** Runs a task within the limits; faults of the outside are returned as values. */
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

/** Addresses to connect to. Throws OutboundFault if there are none or one of them is not public. */
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

/** One address that is not public refuses the whole answer: a name that leads inside has no honest use. */
const findAddressRefusal = (addresses: readonly string[]): Refused | null => {
  for (const address of addresses) {
    const use = findSpecialUse(address);
    // Does not name the address, which may be known only to an internal resolver.
    if (use !== null)
      return refused('address', `the host name leads to an address that is not public (${use})`);
  }
  return null;
};

/** The map also replaces DNS for the hosts that it names, so that local tests need no resolver. */
const findMappedTxt = (name: string, map: OutboundMap | null): TxtAnswer | null => {
  if (map === null) return null;
  const records = Object.hasOwn(map.txt, name) ? map.txt[name] : undefined;
  if (records !== undefined) return records.length === 0 ? { kind: 'absent' } : { kind: 'records', records };
  const isMappedHost = Object.keys(map.hosts).some((host) => name.endsWith(`.${host.split(':')[0]}`));
  return isMappedHost ? { kind: 'absent' } : null;
};
