/**
 * Who may pass: limits and authentication (interface §Authentication, §Limits). Nothing of the request beyond its
 * headers has been read when the gate decides.
 *
 * Order: failed authentications of this address → credential → the key's own limit → class. A key of the wrong class
 * is counted against its own limit, not against its address: it is a live key.
 */
import type { AuthClass, Route } from '@svc/contract';
import type { Clock } from '@svc/service';
import { ApiError } from './api-error.ts';
import type { Authenticate, Caller } from './caller.ts';
import { limiterKeyOf } from './client-ip.ts';
import type { Exchange } from './exchange.ts';
import { type Allowance, RateLimiter } from './rate-limiter.ts';
import { WorkingCredentials } from './working-credentials.ts';

/** Requests per one-minute window and node. */
export interface RateLimits {
  readonly authenticatedPerMinute: number;
  /** Calls of self-serve, per provision key. */
  readonly selfServePerMinute: number;
  /** Calls of the sandbox, per client address. */
  readonly sandboxPerMinute: number;
  readonly publicPerMinute: number;
  readonly failedAuthenticationsPerMinute: number;
}

/** Interface §Limits. */
export const RATE_LIMITS: RateLimits = {
  authenticatedPerMinute: 120,
  selfServePerMinute: 60,
  sandboxPerMinute: 60,
  publicPerMinute: 300,
  failedAuthenticationsPerMinute: 20,
};

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,1024}=*)$/i;

export class Gate {
  readonly #verify: RateLimiter;
  readonly #authenticated: RateLimiter;
  readonly #selfServe: RateLimiter;
  readonly #sandbox: RateLimiter;
  readonly #public: RateLimiter;
  readonly #failures: RateLimiter;
  readonly #working = new WorkingCredentials();

  constructor(
    clock: Pick<Clock, 'nowMs'>,
    private readonly authenticate: Authenticate,
    private readonly limits: RateLimits,
  ) {
    this.#verify = new RateLimiter(clock);
    this.#authenticated = new RateLimiter(clock);
    this.#selfServe = new RateLimiter(clock);
    this.#sandbox = new RateLimiter(clock);
    this.#public = new RateLimiter(clock);
    this.#failures = new RateLimiter(clock);
  }

  /** The caller, null on a public route; throws 401, 403 or 429. */
  async admit(route: Route, exchange: Exchange): Promise<Caller | null> {
    if (route.auth.length === 0) {
      if (route.limiter === 'sandbox') this.#admitToSandbox(exchange);
      else this.admitPublic(exchange);
      return null;
    }
    const caller = await this.#identify(route, exchange);
    exchange.caller = caller;
    hold(exchange, this.#takeOfKey(route, caller, 1));
    requireClass(route.auth, caller);
    return caller;
  }

  /** Counts further calls of an admitted caller against its key's limit, all or none; throws 429. */
  countMore(route: Route, exchange: Exchange, calls: number): void {
    if (exchange.caller !== null) hold(exchange, this.#takeOfKey(route, exchange.caller, calls));
  }

  /** Counts a request that needs no credential. */
  admitPublic(exchange: Exchange): void {
    hold(exchange, this.#public.take(limiterKeyOf(exchange.clientIp), this.limits.publicPerMinute));
  }

  #admitToSandbox(exchange: Exchange): void {
    hold(exchange, this.#sandbox.take(limiterKeyOf(exchange.clientIp), this.limits.sandboxPerMinute));
  }

  async #identify(route: Route, exchange: Exchange): Promise<Caller> {
    const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1] ?? null;
    const limit = this.limits.failedAuthenticationsPerMinute;
    const address = limiterKeyOf(exchange.clientIp);
    const before = this.#failures.peek(address, limit);
    if (!before.allowed && (token === null || !this.#working.has(token))) hold(exchange, before);

    // Only a decision's commit reads the key again.
    const mayBeRemembered = route.limiter === 'verify';
    const caller = token === null ? null : await this.authenticate(token, { mayBeRemembered });
    if (token !== null && caller !== null) {
      this.#working.add(token);
      return caller;
    }
    if (token !== null) this.#working.delete(token);
    hold(exchange, this.#failures.take(address, limit));
    throw new ApiError(
      'UNAUTHORIZED',
      token === null ? 'Send a credential as "Authorization: Bearer <key>"' : 'The key is unknown or revoked',
    );
  }

  #takeOfKey(route: Route, caller: Caller, calls: number): Allowance {
    const key = limiterNameOf(caller);
    if (route.limiter === 'verify' && caller.class === 'rp')
      return this.#verify.take(key, caller.relyingParty.verifyRateLimitPerMinute, calls);
    return route.limiter === 'self-serve' && caller.class === 'provision'
      ? this.#selfServe.take(key, this.limits.selfServePerMinute, calls)
      : this.#authenticated.take(key, this.limits.authenticatedPerMinute, calls);
  }
}

/** Keys of the overlap set are counted apart. */
const limiterNameOf = (caller: Caller): string =>
  caller.class === 'provision' ? `provision ${caller.ordinal}` : (caller.keyId ?? caller.class);

/** The answer tells of the limit. Throws 429 when it is used up. */
export const hold = (exchange: Exchange, allowance: Allowance): void => {
  exchange.tellOf(allowance);
  const { allowed, limit, window, remaining, resetSeconds } = allowance;
  if (allowed) return;
  const left = remaining === 0 ? '' : `, of which ${remaining} are left`;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests: ${limit} ${window === 'hour' ? 'an' : 'a'} ${window} are allowed${left}; try again in ${resetSeconds} s`,
    { retryAfterSeconds: resetSeconds },
  );
};

const CLASS_NAMES: Readonly<Record<AuthClass, string>> = {
  rp: 'an RP key',
  principal: 'a Principal key',
  org: 'an org key',
  'org:admin': 'an org:admin key',
  observer: 'an observer key',
  admin: 'the admin token',
  provision: 'a provision key',
};

const requireClass = (auth: readonly AuthClass[], caller: Caller): void => {
  if (auth.includes(caller.class)) return;
  if (caller.class === 'org' && auth.includes('org:admin')) {
    if (caller.role === 'admin') return;
    throw new ApiError('FORBIDDEN', 'An org:read key may not do this; use an org:admin key');
  }
  const needed = auth.map((authClass) => CLASS_NAMES[authClass]).join(' or ');
  throw new ApiError('UNAUTHORIZED', `This endpoint takes ${needed}`);
};
