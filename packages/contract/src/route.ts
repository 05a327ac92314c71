/**
 * What one endpoint is, as data. Request binding, the typed caller, limits, 404/405 answers, the API reference and
 * the tests' response checks are all read from these objects, so none of them can disagree with another.
 */
import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';

/**
 * The class of callers that a route admits. `org` is any org key, `org:admin` only one of role admin. An empty list is
 * a public route.
 */
export type AuthClass = 'rp' | 'principal' | 'org' | 'org:admin' | 'observer' | 'admin' | 'provision';

/**
 * Interface §Limits: per API key at the RP's own rate, per API key at the common rate, per client IP; and at rates of
 * their own, per provision key for self-serve and per client IP for the sandbox.
 */
export type LimiterBucket = 'verify' | 'authenticated' | 'self-serve' | 'public' | 'sandbox';

/** What a deployment may leave out. Its routes then answer 404 to a caller that they would admit, whatever is sent. */
export type Feature = 'sandbox' | 'self-serve' | 'webhooks' | 'ssf';

export type HttpMethod = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** A JSON answer. The handler gives a value, or its finished JSON text when the exact bytes matter. */
export interface JsonResponse<S extends z.ZodType = z.ZodType> {
  readonly kind: 'json';
  readonly description: string;
  readonly schema: S;
  /** Response headers beyond the common ones: name → meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Stored bytes, served as they are. `schema` is given where the bytes are JSON. */
export interface RawResponse<T extends string = string> {
  readonly kind: 'raw';
  readonly description: string;
  readonly contentTypes: readonly T[];
  readonly schema?: z.ZodType;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A body that is made while it is sent, of any length. Once it has begun there is no other way to report a failure than
 * to break the connection, so a body that ends is whole.
 */
export interface StreamResponse<T extends string = string> {
  readonly kind: 'stream';
  readonly description: string;
  readonly contentTypes: readonly T[];
  /** For types that are lines of JSON: what each line is. */
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
  /** `/relying-parties/{did}`: a parameter is one whole segment. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly auth: readonly AuthClass[];
  readonly limiter: LimiterBucket;
  /** Absent: every deployment has it. */
  readonly feature?: Feature;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Request headers the handler receives, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /**
   * How the body is read. `strict` (the default): all of it is strict JSON. `envelope`: only its own members are judged;
   * what stands inside them is the handler's to judge. `authzen`: sent as `application/json`, and with numbers of any
   * JSON form, since it may hold members that nobody asked for; those that strict JSON refuses read as null.
   */
  readonly bodyReading?: 'strict' | 'envelope' | 'authzen';
  /** In place of the common 65,536. */
  readonly maxBodyBytes?: number;
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** Errors this route adds to the common ones, or says more precisely than they do. */
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

/** Every error status a route can answer: what follows from its shape, and what it declares. */
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
