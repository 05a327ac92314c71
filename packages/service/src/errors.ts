/**
 * Refusals of the API (interface §Errors). A DENY is never one of these. `message` is public and says what was
 * wrong and what is right; `detail` and `cause` go to the log alone.
 */
export type ApiErrorCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHORIZED'
  | 'PLAN_REQUIRED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'CONFLICT'
  | 'PAYLOAD_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'SERVICE_UNAVAILABLE';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly detail: string | undefined;

  constructor(
    readonly code: ApiErrorCode,
    message: string,
    options: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.detail = options.detail;
  }
}

export const invalidRequest = (message: string): ApiError => new ApiError('INVALID_REQUEST', message);
export const notFound = (message: string): ApiError => new ApiError('NOT_FOUND', message);
export const conflict = (message: string): ApiError => new ApiError('CONFLICT', message);
export const forbidden = (message: string): ApiError => new ApiError('FORBIDDEN', message);
export const unauthorized = (message: string): ApiError => new ApiError('UNAUTHORIZED', message);

/** A backing service did not answer in time: nothing was allowed. */
export const serviceUnavailable = (detail: string, cause?: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'A backing service is unavailable. Nothing was allowed; retry shortly.',
    {
      detail,
      cause,
    },
  );
