/**
 * Error codes, their statuses and their body (interface §Errors, protocol §13). A DENY is never an error: it is a 200
 * with a Receipt.
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

/** The meaning of each code for the caller, as the API reference shows it. A route may describe it more precisely. */
export const ERROR_MEANING: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'The request is malformed. `message` names the field, what was sent and what is right.',
  UNAUTHORIZED:
    'There is no credential, it is unknown or revoked, or this endpoint does not accept its class.',
  PLAN_REQUIRED: 'No plan of the org covers this production check. Nothing was evaluated or stored.',
  FORBIDDEN: 'The credential is valid but may not do this.',
  NOT_FOUND:
    'There is no such resource, or it belongs to another subject: the answer is the same in both cases.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method. `Allow` lists the methods that it has.',
  CONFLICT: 'The request contradicts what is stored.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 64 KB.',
  RATE_LIMITED: 'Too many requests in this one-minute window. Wait `Retry-After` seconds.',
  INTERNAL: 'The service failed. Quote `Svc-Request-Id` when you report it.',
  SERVICE_UNAVAILABLE:
    'A backing service is unreachable. Nothing was allowed. Retry after `Retry-After` seconds.',
};

/** What the caller can do about each code, in one sentence; `ERROR_MEANING` says what happened. */
export const ERROR_REMEDY: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'Correct the field that `message` names, and send the request again.',
  UNAUTHORIZED:
    'Send `Authorization: Bearer` with a key that is in force and of a class that the endpoint accepts; `GET /me` shows the class of a key.',
  PLAN_REQUIRED: 'The org of the relying party needs a plan for production checks; ask the operator.',
  FORBIDDEN: 'Use a key of the subject that this concerns, or of the role that the endpoint names.',
  NOT_FOUND: 'Check the path and the id, and whether the key belongs to the subject that owns the resource.',
  METHOD_NOT_ALLOWED: 'Use a method that `Allow` lists.',
  CONFLICT:
    'Read what is stored now; repeat the call only with values that agree with it, or under another id.',
  PAYLOAD_TOO_LARGE: 'Send a smaller body: at most 65,536 bytes, unless the endpoint names another limit.',
  RATE_LIMITED:
    'Wait `Retry-After` seconds, then send requests more slowly; `RateLimit-Remaining` shows how many are left.',
  INTERNAL: 'Tell the operator the `Svc-Request-Id`. Treat nothing as allowed.',
  SERVICE_UNAVAILABLE:
    'Wait `Retry-After` seconds and send the same request again; send a verification under its `Idempotency-Key` or with a new Proof, because the first Proof may be spent. Treat nothing as allowed; repeat a revocation until it is 200.',
};

export const errorBody = z
  .strictObject({
    error: z
      .enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'Stable: base your program on this code.' }),
    message: z.string().meta({ description: 'For people; the text may change.' }),
  })
  .meta({ id: 'Error', description: 'The body of every answer that is not a result.' });

export type ErrorBody = z.output<typeof errorBody>;
