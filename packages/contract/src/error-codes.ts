/**
 * Error codes, their statuses and their body (interface §Errors, protocol §13). A DENY is never one of these: it is
 * a 200 with a Receipt.
 */
import { z } from 'zod';

export const ERROR_STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  PLAN_REQUIRED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;
export const ERROR_CODES = Object.keys(ERROR_STATUS) as readonly ErrorCode[];

/** What each code means to the caller, for the reference. A route may say it more precisely. */
export const ERROR_MEANING: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'The request is malformed. `message` names the field, what was sent and what is right.',
  UNAUTHORIZED:
    'No credential, an unknown or revoked one, or one of a class that this endpoint does not take.',
  PLAN_REQUIRED: 'No plan of the org covers this production check. Nothing was evaluated or stored.',
  FORBIDDEN: 'The credential is valid but may not do this.',
  NOT_FOUND: "There is no such resource, or it is another subject's: the two answers are the same.",
  METHOD_NOT_ALLOWED: 'The path exists, the method does not. `Allow` lists those that do.',
  CONFLICT: 'The request contradicts what is stored.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 64 KB.',
  RATE_LIMITED: 'Too many requests in this one-minute window. Wait `Retry-After` seconds.',
  INTERNAL: 'A fault of the service. Quote `Svc-Request-Id` when reporting it.',
  SERVICE_UNAVAILABLE:
    'A backing service is unreachable. Nothing was allowed. Retry after `Retry-After` seconds.',
};

export const errorBody = z
  .strictObject({
    error: z
      .enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'Stable; switch on this.' }),
    message: z.string().meta({ description: 'For people; may change.' }),
  })
  .meta({ id: 'Error', description: 'Every answer that is not a result.' });

export type ErrorBody = z.output<typeof errorBody>;
