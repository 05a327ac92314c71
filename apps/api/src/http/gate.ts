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
  readonly publicPerMinute: number;
  readonly failedAuthenticationsPerMinute: number;
}

/** Interface §Limits. */
export const RATE_LIMITS: RateLimits = {
  authenticatedPerMinute: 120,
  publicPerMinute: 300,
  failedAuthenticationsPerMinute: 20,
};

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,1024}=*)$/i;

export class Gate {
  readonly #verify: RateLimiter;
  readonly #authenticated: RateLimiter;
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
    this.#public = new RateLimiter(clock);
    this.#failures = new RateLimiter(clock);
  }

  /** The caller, null on a public route; throws 401, 403 or 429. */
  async admit(route: Route, exchange: Exchange): Promise<Caller | null> {
    if (route.auth.length === 0) {
      this.admitPublic(exchange);
      return null;
    }
    const caller = await this.#identify(route, exchange);
    exchange.caller = caller;
    this.#limitKey(route, caller, exchange);
    requireClass(route.auth, caller);
    return caller;
  }

  /** Counts a request that needs no credential. */
  admitPublic(exchange: Exchange): void {
    hold(exchange, this.#public.take(limiterKeyOf(exchange.clientIp), this.limits.publicPerMinute));
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

  #limitKey(route: Route, caller: Caller, exchange: Exchange): void {
    const key = caller.keyId ?? caller.class;
    const allowance =
      route.limiter === 'verify' && caller.class === 'rp'
        ? this.#verify.take(key, caller.relyingParty.verifyRateLimitPerMinute)
        : this.#authenticated.take(key, this.limits.authenticatedPerMinute);
    hold(exchange, allowance);
  }
}

const hold = (exchange: Exchange, { allowed, limit, remaining, resetSeconds }: Allowance): void => {
  exchange.addHeader('RateLimit-Limit', String(limit));
  exchange.addHeader('RateLimit-Remaining', String(remaining));
  exchange.addHeader('RateLimit-Reset', String(resetSeconds));
  if (allowed) return;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests: ${limit} a minute are allowed; try again in ${resetSeconds} s`,
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
