/**
 * Describes one endpoint as data. Request binding, the typed caller, limits, 404/405 answers, the API reference and the
 * tests' response checks all use these objects, so they cannot disagree.
 */
import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';

/**
 * The class of callers that a route admits. `org` is any org key, `org:admin` only one of role admin. An empty list
 * makes the route public.
 */
export type AuthClass = 'rp' | 'principal' | 'org' | 'org:admin' | 'observer' | 'admin' | 'provision';

/**
 * The rate limits (interface §Limits):
 * - `verify`: per API key, at the relying party's own rate;
 * - `authenticated`: per API key, at the common rate;
 * - `public`: per client IP;
 * - `self-serve`: per provision key, at its own rate;
 * - `sandbox`: per client IP, at its own rate.
 */
export type LimiterBucket = 'verify' | 'authenticated' | 'self-serve' | 'public' | 'sandbox';

/**
 * Features that a deployment may leave out. Their routes then answer 404 to every caller whom they would admit,
 * whatever the request.
 */
export type Feature = 'sandbox' | 'self-serve' | 'webhooks' | 'ssf';

export type HttpMethod = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** A JSON answer. The handler returns a value, or the finished JSON text if the exact bytes matter. */
export interface JsonResponse<S extends z.ZodType = z.ZodType> {
  readonly kind: 'json';
  readonly description: string;
  readonly schema: S;
  /** Response headers besides the common ones: name → meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Stored bytes, served unchanged. `schema` is given if the bytes are JSON. */
export interface RawResponse<T extends string = string> {
  readonly kind: 'raw';
  readonly description: string;
  readonly contentTypes: readonly T[];
  readonly schema?: z.ZodType;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A body of any length that is produced while it is sent. Once it has begun, only a broken connection can report a
 * failure, so a body that ends is complete.
 */
export interface StreamResponse<T extends string = string> {
  readonly kind: 'stream';
  readonly description: string;
  readonly contentTypes: readonly T[];
  /** For types whose content is lines of JSON: the schema of a line. */
  readonly lineSchemas?: Readonly<Partial<Record<T, z.ZodType>>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer without a body: 204. */
export interface EmptyResponse {
  readonly kind: 'empty';
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type SuccessResponse = JsonResponse | RawResponse | StreamResponse | EmptyResponse;

export interface Route {
  readonly method: HttpMethod;
  /** `/relying-parties/{did}`: a parameter is one whole path segment. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly auth: readonly AuthClass[];
  readonly limiter: LimiterBucket;
  /** True: the call does nothing but take authority away. It must be possible at any time (protocol §13). */
  readonly withdraws?: true;
  /** Absent: every deployment has the route. */
  readonly feature?: Feature;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Request headers the handler receives, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /**
   * How the body is parsed.
   * - `strict` (the default): the whole body must be strict JSON.
   * - `envelope`: only the members of the body itself are checked; the handler checks what they contain.
   * - `authzen`: the media type is `application/json`. Numbers may have any JSON form, because the body may contain
   *   members that the service does not need; numbers that strict JSON refuses are read as null.
   */
  readonly bodyReading?: 'strict' | 'envelope' | 'authzen';
  /** Replaces the common limit of 65,536. */
  readonly maxBodyBytes?: number;
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** Errors that this route has besides the common ones, or describes more precisely. */
  readonly errors: Readonly<Partial<Record<ErrorCode, string>>>;
}

export const defineRoute = <const R extends Route>(route: R): R => route;

export const json = <S extends z.ZodType>(
  schema: S,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): JsonResponse<S> => ({ kind: 'json', schema, description, headers });

export const raw = <const T extends string>(
  contentTypes: readonly T[],
  description: string,
  more: { readonly schema?: z.ZodType; readonly headers?: Readonly<Record<string, string>> } = {},
): RawResponse<T> => ({ kind: 'raw', contentTypes, description, ...more });

export const stream = <const T extends string>(
  contentTypes: readonly T[],
  description: string,
  more: {
    readonly lineSchemas?: Readonly<Partial<Record<T, z.ZodType>>>;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): StreamResponse<T> => ({ kind: 'stream', contentTypes, description, ...more });

export const empty = (description: string): EmptyResponse => ({ kind: 'empty', description });

/** Every error code that a route can answer: those that follow from its shape, and those that it declares. */
export const errorCodesOf = (route: Route): readonly ErrorCode[] => {
  const codes = new Set<ErrorCode>(['INVALID_REQUEST', 'RATE_LIMITED', 'INTERNAL']);
  if (route.auth.length > 0) codes.add('UNAUTHORIZED');
  if (route.auth.includes('org:admin')) codes.add('FORBIDDEN');
  if (route.params !== undefined || route.feature !== undefined) codes.add('NOT_FOUND');
  if (route.body !== undefined) codes.add('PAYLOAD_TOO_LARGE');
  if (route.responses[503] === undefined) codes.add('SERVICE_UNAVAILABLE');
  for (const code of Object.keys(route.errors) as ErrorCode[]) codes.add(code);
  return [...codes];
};
