/**
 * Refusals of the use cases; a DENY is not one of them. `message` is public and says what was wrong and what is right.
 * `detail` and `cause` go only to the log. The HTTP layer maps a code to a status (interface §Errors).
 */
export type ServiceErrorCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHORIZED'
  | 'PLAN_REQUIRED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'SERVICE_UNAVAILABLE';

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ServiceErrorCode,
    message: string,
    options: { readonly detail?: string; readonly cause?: unknown; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** An impossible state: a bug or broken storage. `detail` is logged and never sent to the caller. */
export const internal = (detail: string): ServiceError =>
  new ServiceError('INTERNAL', 'Internal error.', { detail });

export const invalidRequest = (message: string): ServiceError => new ServiceError('INVALID_REQUEST', message);
export const notFound = (message: string): ServiceError => new ServiceError('NOT_FOUND', message);
export const conflict = (message: string): ServiceError => new ServiceError('CONFLICT', message);
export const forbidden = (message: string): ServiceError => new ServiceError('FORBIDDEN', message);
export const unauthorized = (message: string): ServiceError => new ServiceError('UNAUTHORIZED', message);

/** A limit that storage counts for all nodes together is used up. */
export const rateLimited = (message: string, retryAfterSeconds: number): ServiceError =>
  new ServiceError('RATE_LIMITED', message, { retryAfterSeconds });

/** The org's entitlement does not cover this production check. `why` is public. */
export const planRequired = (why: string): ServiceError =>
  new ServiceError('PLAN_REQUIRED', `No plan covers this check: ${why}. Nothing was evaluated or stored.`);

/** A backing service did not answer in time: nothing was allowed. */
export const serviceUnavailable = (detail: string, cause?: unknown): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'A backing service is unavailable. Nothing was allowed; retry shortly.',
    {
      detail,
      cause,
    },
  );
