/**
 * The one way from a matched route to its answer, used by Express and by the fast path alike: gate, input, handler,
 * answer. What differs between endpoints is in the contract and in their handlers.
 */
import { type Route, type RouteId, routes } from '@svc/contract';
import { customerIpOf } from './client-ip.ts';
import type { HttpDeps } from './deps.ts';
import type { Exchange } from './exchange.ts';
import { Gate } from './gate.ts';
import type { ErasedHandler, Handlers } from './handler.ts';
import { readInput } from './read-input.ts';
import { answer, sendFailure } from './respond.ts';

export interface BoundRoute {
  readonly id: RouteId;
  readonly route: Route;
  readonly handler: ErasedHandler;
}

export class Pipeline {
  readonly gate: Gate;

  constructor(private readonly deps: HttpDeps) {
    this.gate = new Gate(deps.clock, deps.authenticate, deps.limits);
  }

  bind(id: RouteId): BoundRoute {
    return { id, route: routes[id], handler: eraseHandler(this.deps.handlers, id) };
  }

  /** Answers the request. Never rejects. */
  async run(
    bound: BoundRoute,
    exchange: Exchange,
    pathParams: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { id, route, handler } = bound;
    exchange.routeId = id;
    exchange.pathParams = pathParams;
    if (route.auth.length === 0) allowAnyOrigin(exchange);
    try {
      const caller = await this.gate.admit(route, exchange);
      const input = await readInput(route, exchange, pathParams, this.deps.limits.maxBodyBytes);
      const { requestId } = exchange;
      const clientIp = customerIpOf(caller, exchange.request, exchange.clientIp);
      const sending = answer(exchange, await handler({ ...input, caller, requestId, clientIp }));
      if (sending !== null) await sending;
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  fail(exchange: Exchange, error: unknown): void {
    sendFailure(exchange, error, this.deps);
  }
}

/** `Handlers` has proved each handler against its route; the pipeline feeds each only its own route's input. */
const eraseHandler = (handlers: Handlers, id: RouteId): ErasedHandler =>
  handlers[id] as unknown as ErasedHandler;

/** Response headers that scripts of other origins may read. */
const EXPOSED =
  'Svc-Request-Id, X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ' +
  'X-Svc-Tree-Size, X-Svc-Root';

/** Public routes may be read from any page (protocol §14): they take no credential. */
export const allowAnyOrigin = (exchange: Exchange): void => {
  exchange.addHeader('Access-Control-Allow-Origin', '*');
  exchange.addHeader('Access-Control-Expose-Headers', EXPOSED);
};
