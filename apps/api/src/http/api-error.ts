/**
 * The one error that reaches a caller (interface §Errors). `message` is public; `detail` and `cause` are for the log.
 * Anything else that is thrown inside the frame is a bug and is answered INTERNAL without details.
 */
import { ERROR_STATUS, type ErrorCode } from '@svc/contract';

export interface ApiErrorOptions {
  readonly detail?: string;
  readonly cause?: unknown;
  /** Whole seconds; default for SERVICE_UNAVAILABLE: 1. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.detail = options.detail;
    this.headers = { ...standardHeaders(code, options.retryAfterSeconds), ...options.headers };
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

const standardHeaders = (code: ErrorCode, retryAfterSeconds: number | undefined): Record<string, string> => {
  if (code === 'UNAUTHORIZED') return { 'WWW-Authenticate': 'Bearer' };
  if (code === 'SERVICE_UNAVAILABLE') return { 'Retry-After': String(retryAfterSeconds ?? 1) };
  return retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
};
