/**
 * Prometheus metrics of the HTTP frame, labelled by route id and never by path, so that the number of labels stays
 * limited whatever is requested.
 */
import { ERROR_STATUS, routes } from '@svc/contract';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { NO_ROUTE } from './exchange.ts';
import { FAILED_AUTHENTICATIONS, type FailedAuthentication } from './request-gate.ts';

export interface HttpMetrics {
  begin(): void;
  /** `status` 0: the client disconnected before an answer. */
  end(routeId: string, status: number, durationMs: number): void;
  connectionRefused(): void;
  authenticationFailed(why: FailedAuthentication): void;
}

/**
 * Every failure has its series from the start, with 0. Prometheus sees no increase in a series that begins with 1, and
 * would miss the first revocation that fails.
 */
const FAILURES = Object.values(ERROR_STATUS).filter((status) => status >= 500);

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const createHttpMetrics = (registry: Registry): HttpMetrics => {
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Requests by route id and status; status 0 is a client that went away.',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  for (const route of [...Object.keys(routes), NO_ROUTE])
    for (const status of FAILURES) requests.labels({ route, status }).inc(0);
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the end of the request headers to the end of the answer, by route id.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'svc_http_requests_in_flight',
    help: 'Requests being answered.',
    registers: [registry],
  });
  const connectionsRefused = new Counter({
    name: 'svc_http_connections_refused_total',
    help: 'Connections closed as they came: their address has as many as it may.',
    registers: [registry],
  });
  const failures = new Counter({
    name: 'svc_authentication_failures_total',
    help: 'Calls that had no credential that counts, by what was wrong with it.',
    labelNames: ['problem'],
    registers: [registry],
  });
  for (const problem of FAILED_AUTHENTICATIONS) failures.labels({ problem }).inc(0);
  // Looking up a labelled series costs more than counting, so each is looked up once.
  const countOf = remember((key) => {
    const [route = '', status = ''] = key.split(' ');
    return requests.labels({ route, status });
  });
  const durationOf = remember((route) => durations.labels({ route }));
  return {
    begin: () => inFlight.inc(),
    end: (routeId, status, durationMs) => {
      inFlight.dec();
      countOf(`${routeId} ${status}`).inc();
      durationOf(routeId).observe(durationMs / 1000);
    },
    connectionRefused: () => connectionsRefused.inc(),
    authenticationFailed: (problem) => failures.labels({ problem }).inc(),
  };
};

const remember = <T>(make: (key: string) => T): ((key: string) => T) => {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
};
