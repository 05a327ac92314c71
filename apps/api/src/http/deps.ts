/** Dependencies of the HTTP frame, provided by the code that composes the process. */
import type { Feature } from '@svc/contract';
import { type Clock, VERIFY_DEADLINE_MS } from '@svc/service';
import type { Logger } from 'pino';
import type { ApiError } from './api-error.ts';
import type { Authenticate } from './caller.ts';
import type { Handlers } from './handler.ts';
import type { HttpMetrics } from './metrics.ts';
import type { StaticPage } from './pages.ts';
import { RATE_LIMITS, type RateLimits } from './rate-limits.ts';

export interface HttpLimits extends RateLimits {
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  /** Maximum number of connections of one client address. */
  readonly connectionsPerAddress: number;
  /** Milliseconds from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** Milliseconds from the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number;
  readonly timeoutCheckMs: number;
  /**
   * Milliseconds from the headers of a verification to its answer. Instead of a later answer the caller gets an error.
   */
  readonly verifyDeadlineMs: number;
  /**
   * Longer than the 60 s for which load balancers commonly keep a connection, so that the load balancer closes it
   * first.
   */
  readonly keepAliveTimeoutMs: number;
  /** Milliseconds for which a client may read nothing of a streamed answer before its connection is cut. */
  readonly stalledClientMs: number;
  /** While shutting down: milliseconds for which idle connections are kept for a request that may be on its way. */
  readonly idleGraceMs: number;
  /** While shutting down: milliseconds after which connections that are still busy are cut. */
  readonly shutdownDeadlineMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  ...RATE_LIMITS,
  maxBodyBytes: 65_536,
  maxConnections: 8_192,
  connectionsPerAddress: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  timeoutCheckMs: 1_000,
  verifyDeadlineMs: VERIFY_DEADLINE_MS,
  keepAliveTimeoutMs: 65_000,
  stalledClientMs: 30_000,
  idleGraceMs: 1_000,
  shutdownDeadlineMs: 10_000,
};

export interface HttpDeps {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly authenticate: Authenticate;
  readonly handlers: Handlers;
  readonly pages: readonly StaticPage[];
  /** Template of the page that shows an error to a browser that asked for a page (`loadErrorPage`). */
  readonly errorPage: string;
  /** The optional features that this deployment offers. */
  readonly features: ReadonlySet<Feature>;
  readonly limits: HttpLimits;
  /** Without a trailing slash. Shown in the reference; https turns HSTS on. */
  readonly publicBaseUrl: string;
  /** Host that serves status lists at the bare path, or null. */
  readonly statusHost: string | null;
  readonly trustProxyHops: number;
  /** Maps errors of the inner layers that have a public meaning. Null: unknown error, answered INTERNAL. */
  readonly toApiError: (error: unknown) => ApiError | null;
}
