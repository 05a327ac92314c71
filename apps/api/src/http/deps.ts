/** What the HTTP frame needs from whoever composes the process. */
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
  /** How many of them one client address may have. */
  readonly connectionsPerAddress: number;
  /** Milliseconds from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** Milliseconds from the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number;
  readonly timeoutCheckMs: number;
  /** Milliseconds from the headers of a verification to its answer. A later answer is refused. */
  readonly verifyDeadlineMs: number;
  /** Longer than the 60 s for which load balancers commonly keep a connection, so that they close it first. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of a streamed answer before it is cut. */
  readonly stalledClientMs: number;
  /** While shutting down: how long idle connections are kept for a request that may be on its way. */
  readonly idleGraceMs: number;
  /** While shutting down: when connections still busy are cut. */
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
  /** What browsers are told of an error in where they ask for a page (`loadErrorPage`). */
  readonly errorPage: string;
  /** The optional features that this deployment offers. */
  readonly features: ReadonlySet<Feature>;
  readonly limits: HttpLimits;
  /** Without a trailing slash. Shown in the reference; https turns HSTS on. */
  readonly publicBaseUrl: string;
  /** Host that serves status lists at the bare path, or null. */
  readonly statusHost: string | null;
  readonly trustProxyHops: number;
  /** Errors of the inner layers that have a public meaning. Null: not known, answered INTERNAL. */
  readonly toApiError: (error: unknown) => ApiError | null;
}
