/**
 * The single way from a matched route to its answer: gate, input, handler, answer. Differences between endpoints are in
 * the contract and in their handlers.
 */
import { type Route, type RouteId, routes } from '@svc/contract';
import { activeTraceId, FewLines, isTracing, noteOnSpan, traced, tracedRequest } from '@svc/service';
import { ApiError } from './api-error.ts';
import { customerIpOf } from './client-ip.ts';
import type { HttpDeps } from './deps.ts';
import type { Exchange, LoggedDecision } from './exchange.ts';
import type { ErasedHandler, Handlers, Reply } from './handler.ts';
import { inTime } from './in-time.ts';
import type { Allowance } from './rate-limiter.ts';
import { readInput } from './read-input.ts';
import { encodeFor } from './representations.ts';
import { enforceLimit, RequestGate } from './request-gate.ts';
import { answer, type FailurePort, sendFailure } from './respond.ts';

export interface BoundRoute {
  readonly id: RouteId;
  readonly route: Route;
  readonly handler: ErasedHandler;
}

type PathParams = Readonly<Record<string, unknown>>;

export class Pipeline {
  readonly gate: RequestGate;
  readonly #failures: FailurePort;

  constructor(private readonly deps: HttpDeps) {
    this.gate = new RequestGate(
      deps.clock,
      deps.authenticate,
      deps.limits,
      deps.metrics.authenticationFailed,
    );
    const { logger, toApiError } = deps;
    this.#failures = {
      logger,
      toApiError,
      unavailable: new FewLines((line, message) => logger.warn(line, message)),
    };
  }

  bind(id: RouteId): BoundRoute {
    return { id, route: routes[id], handler: eraseHandler(this.deps.handlers, id) };
  }

  /** Whether this deployment offers the feature that the route belongs to. */
  isOffered({ feature }: Route): boolean {
    return feature === undefined || this.deps.features.has(feature);
  }

  /** Answers the request. Never rejects. */
  run(bound: BoundRoute, exchange: Exchange, pathParams: PathParams): Promise<void> {
    if (!isTracing()) return this.respond(bound, exchange, pathParams);
    const { path } = bound.route;
    const method = bound.route.method.toUpperCase();
    const facts = { 'http.request.method': method, 'http.route': path };
    return tracedRequest(`${method} ${path}`, exchange.request.headers, facts, async () => {
      exchange.traceId = activeTraceId();
      await this.respond(bound, exchange, pathParams);
      noteOnSpan({ 'http.response.status_code': exchange.response.statusCode });
    });
  }

  private async respond(bound: BoundRoute, exchange: Exchange, pathParams: PathParams): Promise<void> {
    const { id, route, handler } = bound;
    exchange.routeId = id;
    exchange.pathParams = pathParams;
    if (route.auth.length === 0) allowAnyOrigin(exchange);
    if (route.limiter === 'verify')
      exchange.answerByMs = exchange.startedAtMs + this.deps.limits.verifyDeadlineMs;
    try {
      const caller = await traced('authenticate', () => this.gate.admit(route, exchange));
      if (!this.isOffered(route)) throw notOffered(route);
      const reading = readInput(route, exchange, pathParams, this.deps.limits.maxBodyBytes);
      const input = await inTime(exchange, 'the body', reading);
      exchange.receivedAtMs = performance.now();
      const { requestId, answerByMs } = exchange;
      const clientIp = customerIpOf(caller, exchange.request, exchange.clientIp);
      const countMore = (calls: number) => this.gate.countMore(route, exchange, calls);
      const noteRemoteWait = () => {
        exchange.hasWaitedOnRemote = true;
      };
      const noteDecision = (decided: LoggedDecision | null) => {
        exchange.decisions += 1;
        if (exchange.calls === 1) exchange.decided = decided;
      };
      const clientGone = () => exchange.clientGone();
      const limits = {
        answerByMs,
        countMore,
        enforceLimit: (allowance: Allowance) => enforceLimit(exchange, allowance),
        noteRemoteWait,
        noteDecision,
        clientGone,
      };
      const context = { ...input, caller, requestId, clientIp, ...limits };
      const sending = answer(exchange, await inCoding(exchange, route, await handler(context)));
      if (sending !== null) await sending;
    } catch (error) {
      this.fail(exchange, error);
    } finally {
      exchange.leave();
    }
  }

  fail(exchange: Exchange, error: unknown): void {
    sendFailure(exchange, error, this.#failures);
  }
}

/** Encodes a public text as the client accepts it. A text made for one caller is never encoded (representations.ts). */
const inCoding = async ({ request }: Exchange, route: Route, reply: Reply): Promise<Reply> => {
  const isPublicText = route.auth.length === 0 && route.method === 'get' && reply.stream === undefined;
  if (!isPublicText || reply.status !== 200) return reply;
  const text = reply.rawBody ?? JSON.stringify(reply.body);
  const { body, coding } = await encodeFor(request.headers['accept-encoding']?.toString(), text);
  const headers = { ...reply.headers, Vary: 'Accept-Encoding' };
  return {
    ...reply,
    rawBody: body,
    headers: coding === null ? headers : { ...headers, 'Content-Encoding': coding },
  };
};

/** `Handlers` has type-checked each handler against its route; the pipeline gives each only its own route's input. */
const eraseHandler = (handlers: Handlers, id: RouteId): ErasedHandler =>
  handlers[id] as unknown as ErasedHandler;

const notOffered = ({ feature }: Route): ApiError =>
  new ApiError('NOT_FOUND', `This deployment has no ${feature}`);

/** Response headers that scripts of other origins may read. */
const EXPOSED =
  'Svc-Request-Id, X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Link, ' +
  'X-Svc-Tree-Size, X-Svc-Root';

/** Public routes may be read from any page (protocol §14), since they take no credential. */
export const allowAnyOrigin = (exchange: Exchange): void => {
  exchange.addHeader('Access-Control-Allow-Origin', '*');
  exchange.addHeader('Access-Control-Expose-Headers', EXPOSED);
};
