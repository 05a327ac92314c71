/** The API's listener: one exchange for each request. Times, sizes and connections are limited. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { ApiError } from './api-error.ts';
import { refuseConnection } from './client-errors.ts';
import { Connections } from './connections.ts';
import type { HttpDeps } from './deps.ts';
import { Exchange, type ExchangeSettings, NO_ROUTE } from './exchange.ts';
import type { HttpMetrics } from './metrics.ts';
import { Pipeline } from './pipeline.ts';
import { pathOf } from './router.ts';
import { createDispatch } from './routing.ts';
import { buildSecurityHeaders } from './security-headers.ts';
import { withoutRedaction } from './without-redaction.ts';

export interface HttpService {
  listen(port: number, host: string): Promise<AddressInfo>;
  /** True from the first moment of a shutdown: not ready for new work. */
  isDraining(): boolean;
  /**
   * Stops accepting, finishes what is in flight, and closes. Resolves with the number of connections that were cut,
   * when none is left, at the latest at the deadline (ms; default: that of the limits). Once `hurry` is aborted, the
   * deadline of the limits counts from then on.
   */
  shutdown(deadlineMs?: number, hurry?: AbortSignal): Promise<{ readonly connectionsCut: number }>;
}

export const createHttpService = (deps: HttpDeps): HttpService => {
  const { limits } = deps;
  const accessLog = withoutRedaction(deps.logger);
  let draining = false;
  const securityHeaders = buildSecurityHeaders(deps.publicBaseUrl);
  const settings: ExchangeSettings = {
    publicBaseUrl: deps.publicBaseUrl,
    securityHeaders: securityHeaders.api,
    trustProxyHops: deps.trustProxyHops,
    stalledClientMs: limits.stalledClientMs,
    isDraining: () => draining,
  };
  const pipeline = new Pipeline(deps);
  const dispatch = createDispatch({
    pipeline,
    publicBaseUrl: deps.publicBaseUrl,
    pages: deps.pages,
    errorPage: deps.errorPage,
    securityHeaders,
  });

  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // `begin` checks it, so that this refusal has the form of every other.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // Node drops headers beyond the count, and a second Host could be among them; the size of the head limits them
  // instead.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  // Behind proxies all connections come from the proxies.
  const perAddress = deps.trustProxyHops === 0 ? limits.connectionsPerAddress : null;
  const connections = new Connections(server, perAddress, deps.metrics.connectionRefused);

  const begin = (request: IncomingMessage, response: ServerResponse): Exchange => {
    const exchange = new Exchange(request, response, settings);
    // Reads the address now, since a closed connection no longer has it.
    void exchange.clientIp;
    connections.begin(request, response);
    deps.metrics.begin();
    response.once('close', () => {
      connections.end(request, response);
      finish(exchange, deps.metrics, accessLog);
    });
    return exchange;
  };

  const route = (exchange: Exchange): void => {
    const { request } = exchange;
    const problem = findHostProblem(request);
    if (problem !== null) {
      pipeline.fail(exchange, new ApiError('INVALID_REQUEST', problem));
      return;
    }
    if (isStatusHost(request, deps)) {
      exchange.isOnStatusHost = true;
      request.url = onStatusHost(request.url ?? '');
    }
    void dispatch(exchange);
  };

  server.on('request', (request, response) => route(begin(request, response)));
  server.on('checkContinue', (request, response) => {
    const exchange = begin(request, response);
    exchange.expectsContinue = true;
    route(exchange);
  });
  server.on('checkExpectation', (request, response) =>
    pipeline.fail(
      begin(request, response),
      new ApiError('INVALID_REQUEST', 'Only "Expect: 100-continue" is known'),
    ),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (error.code === 'ECONNRESET' || !connections.canRefuse(socket)) return socket.destroy();
    const requestId = refuseConnection(socket, error.code, settings);
    return accessLog.info({ requestId, route: NO_ROUTE, status: 400, problem: error.code }, 'request');
  });

  return {
    isDraining: () => draining,
    listen: (port, host) => listen(server, port, host),
    shutdown: (deadlineMs = limits.shutdownDeadlineMs, hurry = new AbortController().signal) => {
      draining = true;
      const { idleGraceMs, shutdownDeadlineMs: hurriedMs } = limits;
      return shutDown(server, connections, { idleGraceMs, deadlineMs, hurry, hurriedMs });
    },
  };
};

/** RFC 9112 §3.2. With two Host headers a proxy and this server could route by different ones. */
const findHostProblem = ({ rawHeaders, httpVersion }: IncomingMessage): string | null => {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) return 'There is more than one Host header; send one';
  return hosts === 0 && httpVersion === '1.1' ? 'The Host header is missing' : null;
};

const isStatusHost = (request: IncomingMessage, { statusHost }: HttpDeps): boolean =>
  statusHost !== null && request.headers.host?.toLowerCase() === statusHost;

/**
 * The status host serves status lists at the bare path, and the transparency routes beside them (interface §Public).
 */
const onStatusHost = (target: string): string => {
  const path = pathOf(target);
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : '';
  return (TRANSPARENCY.test(path) ? path : `/status-lists${path}`) + query;
};

const TRANSPARENCY = /^\/(?:checkpoints\/|decisions\/[^/]+\/(?:inclusion|attestation)$)/;

const finish = (exchange: Exchange, metrics: HttpMetrics, accessLog: Logger): void => {
  const { request, response, requestId, routeId: route, caller } = exchange;
  const durationMs = performance.now() - exchange.startedAtMs;
  const status = response.writableFinished ? response.statusCode : 0;
  metrics.end(route, status, durationMs);
  const keyId = caller?.keyId ?? caller?.class;
  accessLog.info(
    {
      requestId,
      method: request.method,
      route,
      status,
      durationMs: Math.round(durationMs * 1000) / 1000,
      clientIp: exchange.clientIp,
      keyId,
      ...exchange.decided,
      traceId: exchange.traceId ?? undefined,
    },
    'request',
  );
};

/**
 * Number of connections that the system queues until the server accepts them, `net.core.somaxconn` at most. It drops or
 * resets connections beyond that, and a rush of new clients exceeds Node's default of 511.
 */
const BACKLOG = 4_096;

const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });

interface ShutdownTimes {
  readonly idleGraceMs: number;
  readonly deadlineMs: number;
  readonly hurry: AbortSignal;
  /** Deadline that counts from the moment at which `hurry` is aborted. */
  readonly hurriedMs: number;
}

/**
 * http.Server.close() would cut idle connections at once, and with them a request that is on its way. So only the
 * listening socket is closed first. Idle connections are kept for a grace period, in which every answer says
 * `Connection: close`, and are closed after it.
 */
const shutDown = (
  server: Server,
  connections: Connections,
  { idleGraceMs, deadlineMs, hurry, hurriedMs }: ShutdownTimes,
): Promise<{ connectionsCut: number }> =>
  new Promise((resolve) => {
    let connectionsCut = 0;
    const cut = () => {
      connectionsCut += connections.closeAll();
    };
    const timers = [setTimeout(() => connections.closeIdle(), idleGraceMs), setTimeout(cut, deadlineMs)];
    const onHurry = () => void timers.push(setTimeout(cut, hurriedMs));
    if (hurry.aborted) onHurry();
    else hurry.addEventListener('abort', onHurry);
    NetServer.prototype.close.call(server, () => {
      for (const timer of timers) clearTimeout(timer);
      hurry.removeEventListener('abort', onHurry);
      // This stops the server's own timer as well.
      server.close(() => resolve({ connectionsCut }));
    });
  });
