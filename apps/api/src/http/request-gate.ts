/**
 * Limits and authentication (interface §Authentication, §Limits). The gate decides before anything of the request
 * beyond its headers has been read.
 *
 * Order: failed authentications of this address → credential → the limits of the key, its subject and its org → number
 * of their requests under way → class. A key of the wrong class is counted against its own limits, not against its
 * address, since it is a live key. A key that has used up a limit causes no look-up.
 */
import type { AuthClass, Route } from '@svc/contract';
import { type Clock, tenantOf } from '@svc/service';
import { AddressLimiter } from './address-limiter.ts';
import { Admission } from './admission.ts';
import { ApiError } from './api-error.ts';
import type { Authenticate, Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { InFlight } from './in-flight.ts';
import { inTime } from './in-time.ts';
import {
  countsAt,
  isMember,
  type LevelCount,
  Levels,
  nameOfCaller,
  reservedOf,
  take,
  tightestOf,
} from './levels.ts';
import { type Allowance, RateLimiter } from './rate-limiter.ts';
import type { RateLimits } from './rate-limits.ts';
import { WorkingCredentials } from './working-credentials.ts';

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,1024}=*)$/i;

/** The window of the limits. */
const RESERVED_AFTER_MS = 60_000;

export const FAILED_AUTHENTICATIONS = ['no credential', 'unknown or revoked', 'too many before'] as const;
/** `too many before`: so many authentications of the address had failed that the credential was not looked up. */
export type FailedAuthentication = (typeof FAILED_AUTHENTICATIONS)[number];

export class RequestGate {
  readonly #verify: Levels;
  readonly #authenticated: Levels;
  readonly #reserved: RateLimiter;
  readonly #selfServe: RateLimiter;
  readonly #sandbox: AddressLimiter;
  readonly #public: AddressLimiter;
  readonly #pages: AddressLimiter;
  readonly #failures: AddressLimiter;
  readonly #sharedLookUps: RateLimiter;
  readonly #inFlight: InFlight;
  readonly #admission = new Admission();
  readonly #working = new WorkingCredentials();

  constructor(
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly authenticate: Authenticate,
    private readonly limits: RateLimits,
    private readonly onFailure: (why: FailedAuthentication) => void = () => {},
  ) {
    this.#verify = new Levels(clock);
    this.#authenticated = new Levels(clock);
    this.#reserved = new RateLimiter(clock);
    this.#selfServe = new RateLimiter(clock);
    this.#sandbox = new AddressLimiter(clock, limits.countedAddresses);
    this.#public = new AddressLimiter(clock, limits.countedAddresses);
    this.#pages = new AddressLimiter(clock, limits.countedAddresses);
    this.#failures = new AddressLimiter(clock, limits.countedAddresses);
    this.#sharedLookUps = new RateLimiter(clock);
    this.#inFlight = new InFlight(limits);
  }

  /** Resolves with the caller, null on a public route; throws 401, 403 or 429. */
  async admit(route: Route, exchange: Exchange): Promise<Caller | null> {
    if (route.auth.length === 0) {
      if (route.limiter === 'sandbox') this.#admitToSandbox(exchange);
      else this.admitPublic(exchange);
      return null;
    }
    const caller = await this.#identify(route, exchange);
    exchange.caller = caller;
    const counts = this.#countsOf(route, caller);
    enforceLimit(exchange, tightestOf(counts, 1));
    exchange.leave = this.#enter(route, exchange, caller);
    take(counts, 1);
    if (route.withdraws === true) this.#reserved.take(nameOfCaller(caller), this.limits.reservedPerMinute);
    requireClass(route.auth, caller);
    return caller;
  }

  /**
   * Verifications have no limit per subject here: decisions are gathered from all callers, so admission limits their
   * total.
   */
  #enter(route: Route, exchange: Exchange, caller: Caller): () => void {
    const tenant = tenantOf(caller);
    if (this.#isReserved(route, caller))
      return this.#inFlight.enter(tenant, { key: nameOfCaller(caller), isMember: isMember(caller) });
    if (route.limiter !== 'verify') return this.#inFlight.enter(tenant);
    const leave = this.#admission.enter(tenant, performance.now());
    return () => {
      const { calls, decisions, decided, hasWaitedOnRemote, receivedAtMs, response } = exchange;
      // A request that is refused, or given up by its sender, is quick whatever the service's capacity.
      const saysHowQuick = decisions > 0 || response.statusCode >= 500;
      leave(performance.now(), {
        decisions,
        isSample: calls === 1 && saysHowQuick && !hasWaitedOnRemote,
        hasStored: decided?.isRepeat === false,
        receivedAtMs,
      });
    };
  }

  /** Counts further calls of an admitted caller against its limits, all or none; throws 429. */
  countMore(route: Route, exchange: Exchange, calls: number): void {
    if (exchange.caller === null) return;
    const counts = this.#countsOf(route, exchange.caller);
    enforceLimit(exchange, tightestOf(counts, calls));
    take(counts, calls);
    exchange.calls += calls;
  }

  /** Counts a request that needs no credential. */
  admitPublic(exchange: Exchange): void {
    enforceLimit(exchange, this.#public.take(exchange.clientIp, this.limits.publicPerMinute));
  }

  /** Counts a page for people, or a file of one. */
  admitToPages(exchange: Exchange): void {
    enforceLimit(exchange, this.#pages.take(exchange.clientIp, this.limits.pagesPerMinute));
  }

  #admitToSandbox(exchange: Exchange): void {
    enforceLimit(exchange, this.#sandbox.take(exchange.clientIp, this.limits.sandboxPerMinute));
  }

  async #identify(route: Route, exchange: Exchange): Promise<Caller> {
    const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1] ?? null;
    const limit = this.limits.failedAuthenticationsPerMinute;
    const before = this.#failures.peek(exchange.clientIp, limit);
    const known = token === null ? undefined : this.#working.find(token);
    if (!before.allowed && known === undefined && (token === null || !this.#mayLookUp(exchange))) {
      this.onFailure('too many before');
      enforceLimit(exchange, before);
    }
    // Not for verifications: their limit can change, and their key is usually remembered anyway.
    if (known !== undefined && route.limiter !== 'verify') {
      const allowance = tightestOf(this.#countsOf(route, known), 1);
      if (!allowance.allowed) enforceLimit(exchange, allowance);
    }

    // Only the commit of a decision reads the key again.
    const mayBeRemembered = route.limiter === 'verify';
    const asked =
      token === null
        ? null
        : inTime(exchange, 'authentication', this.authenticate(token, { mayBeRemembered }));
    const caller = await asked?.catch((problem: unknown) => {
      // The owner of the key stays unknown, so the answer shows the limit of the address.
      exchange.tellOf(before);
      throw problem;
    });
    if (token !== null && caller != null) {
      this.#working.add(token, caller);
      return caller;
    }
    if (token !== null) this.#working.delete(token);
    this.onFailure(token === null ? 'no credential' : 'unknown or revoked');
    enforceLimit(exchange, this.#failures.take(exchange.clientIp, limit));
    throw new ApiError(
      'UNAUTHORIZED',
      token === null ? 'Send a credential as "Authorization: Bearer <key>"' : 'The key is unknown or revoked',
    );
  }

  /**
   * If only other clients behind the same address have failed, the key is looked up after all, within one budget for
   * all such look-ups.
   */
  #mayLookUp({ clientIp }: Exchange): boolean {
    if (!this.#failures.isShared(clientIp)) return false;
    return this.#sharedLookUps.take('all', this.limits.sharedLookUpsPerMinute).allowed;
  }

  #countsOf(route: Route, caller: Caller): readonly LevelCount[] {
    const name = nameOfCaller(caller);
    const { limits } = this;
    if (route.limiter === 'self-serve' && caller.class === 'provision')
      return [{ limiter: this.#selfServe, name, limit: limits.selfServePerMinute }];
    if (route.limiter !== 'verify' || caller.class !== 'rp') {
      const counts = countsAt(this.#authenticated, caller, {
        key: limits.authenticatedPerMinute,
        subject: limits.subjectPerMinute,
        org: limits.orgPerMinute,
      });
      return this.#isReserved(route, caller) ? reservedOf(this.#authenticated, counts, caller) : counts;
    }
    const { verifyRateLimitPerMinute: key } = caller.relyingParty;
    const subject = key * limits.keysWorthOfVerifies;
    const org = caller.isNewcomer ? limits.newcomerVerifiesPerMinute : limits.orgVerifiesPerMinute;
    return countsAt(this.#verify, caller, { key, subject, org });
  }

  /**
   * True: the call takes authority away, and is one of those that other keys of its subject cannot use up (decision
   * 134). In one window no more keys have such calls than were live as it began, however many are issued.
   */
  #isReserved({ withdraws }: Route, caller: Caller): boolean {
    if (withdraws !== true || !('key' in caller)) return false;
    const isOld = this.clock.nowMs() - caller.key.createdAtMs >= RESERVED_AFTER_MS;
    return isOld && this.#reserved.peek(nameOfCaller(caller), this.limits.reservedPerMinute).allowed;
  }
}

/** Records the limit for the answer. Throws 429 when it is used up. */
export const enforceLimit = (exchange: Exchange, allowance: Allowance): void => {
  exchange.tellOf(allowance);
  const { allowed, limit, window, remaining, resetSeconds } = allowance;
  if (allowed) return;
  const left = remaining === 0 ? '' : `, ${remaining} left`;
  throw new ApiError(
    'RATE_LIMITED',
    `Too many requests: limit ${limit} per ${window}${left}; try again in ${resetSeconds} s`,
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
