/**
 * Request → the parsed input of a handler (interface §Endpoints). Everything is checked against the contract; unknown
 * members and parameters are refused. A malformed path parameter cannot name anything that exists and is a 404; any
 * other malformed input is a 400.
 */
import { describeProblems, PLACES, type Place, type Route } from '@svc/contract';
import { z } from 'zod';
import { ApiError } from './api-error.ts';
import type { Exchange } from './exchange.ts';
import { type ReadJson, readEnvelope, readJsonBody, readStrict } from './json-body.ts';
import { readAnyNumbers, requireJsonType } from './json-of-authzen.ts';
import { parseQueryString } from './query-string.ts';

export interface ReadInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly bodyText: string | null;
}

const NOTHING = Object.freeze({});
const NO_PARAMETERS = z.strictObject({});

export const readInput = async (
  route: Route,
  exchange: Exchange,
  pathParams: Readonly<Record<string, unknown>>,
  maxBodyBytes: number,
): Promise<ReadInput> => {
  const { request } = exchange;
  const params = route.params ? parsePart(route.params, pathParams, PLACES.path, 'NOT_FOUND') : NOTHING;
  const query = readQuery(route, request.url ?? '');
  const headers = route.headers
    ? parsePart(route.headers, pick(request.headers, route.headers), PLACES.headers)
    : NOTHING;
  if (route.body === undefined) return { params, query, headers, body: null, bodyText: null };
  if (route.bodyReading === 'authzen') requireJsonType(request.headers['content-type']);
  const read = READERS[route.bodyReading ?? 'strict'];
  const maxBytes = route.maxBodyBytes ?? maxBodyBytes;
  const { text, value } = await readJsonBody(exchange, maxBytes, read, mayBeEmpty(route.body));
  return { params, query, headers, body: parsePart(route.body, value, PLACES.body), bodyText: text };
};

const optional = new WeakMap<z.ZodType, boolean>();

/** True where every member is optional, so that an empty body lacks nothing. */
const mayBeEmpty = (body: z.ZodType): boolean => {
  const known = optional.get(body);
  if (known !== undefined) return known;
  const isOptional = body.safeParse({}).success;
  optional.set(body, isOptional);
  return isOptional;
};

const READERS: Readonly<Record<NonNullable<Route['bodyReading']>, ReadJson>> = {
  strict: readStrict,
  envelope: readEnvelope,
  authzen: readAnyNumbers,
};

const readQuery = (route: Route, url: string): unknown => {
  const mark = url.indexOf('?');
  const query = mark < 0 ? {} : parseQueryString(url.slice(mark + 1));
  return parsePart(route.query ?? NO_PARAMETERS, query, PLACES.query);
};

/** The declared headers that the request contains. */
const pick = (headers: Readonly<Record<string, unknown>>, schema: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );

const parsePart = (
  schema: z.ZodType,
  input: unknown,
  place: Place,
  code: 'INVALID_REQUEST' | 'NOT_FOUND' = 'INVALID_REQUEST',
): unknown => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ApiError(code, describeProblems(schema, input, place));
};
