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

/** What the caller can do about each code, in one sentence; `ERROR_MEANING` says what happened. */
export const ERROR_REMEDY: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'Correct the field that `message` names, and send the request again.',
  UNAUTHORIZED:
    'Send `Authorization: Bearer` with a key that is in force, of a class that the endpoint takes; `GET /me` tells what a key is.',
  PLAN_REQUIRED: 'The org of the relying party needs a plan for production checks; ask the operator.',
  FORBIDDEN: 'Use a key of the one whom this concerns, or of the role that the endpoint names.',
  NOT_FOUND: 'Look at the path and the id, and whether the key is of the one whose thing it is.',
  METHOD_NOT_ALLOWED: 'Use a method that `Allow` lists.',
  CONFLICT: 'Read what is stored now; repeat only with what agrees with it, or under another id.',
  PAYLOAD_TOO_LARGE: 'Send less: at most 65,536 bytes, where the endpoint names no other bound.',
  RATE_LIMITED:
    'Wait `Retry-After` seconds, then go on more slowly; `RateLimit-Remaining` tells what is left.',
  INTERNAL: 'Tell the operator the `Svc-Request-Id`. Take nothing as allowed.',
  SERVICE_UNAVAILABLE:
    'Wait `Retry-After` seconds and send the same again, a verification under its `Idempotency-Key` or with a new Proof: the one sent may be spent. Take nothing as allowed; repeat a revocation until it is 200.',
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
