/**
 * Request → the parsed input a handler receives (interface §Endpoints). Everything is checked against the contract;
 * unknown members and parameters are refused. A malformed path parameter names nothing that exists and is a 404,
 * everything else that is malformed a 400.
 */
import type { Route } from '@svc/contract';
import type { z } from 'zod';
import { ApiError } from './api-error.ts';
import { describeIssues, type Place } from './describe-issues.ts';
import type { Exchange } from './exchange.ts';
import { readEnvelope, readJsonBody, readStrict } from './json-body.ts';
import { parseQueryString } from './query-string.ts';

export interface ReadInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly bodyText: string | null;
}

const PATH: Place = { whole: 'the path', field: (name) => `path parameter ${name}` };
const QUERY: Place = { whole: 'the query', field: (name) => `query parameter ${name}` };
const HEADER: Place = { whole: 'the headers', field: (name) => `header ${name}` };
const BODY: Place = { whole: 'the body', field: (path) => `body.${path}` };

const NOTHING = Object.freeze({});

export const readInput = async (
  route: Route,
  exchange: Exchange,
  pathParams: Readonly<Record<string, unknown>>,
  maxBodyBytes: number,
): Promise<ReadInput> => {
  const { request } = exchange;
  const params = route.params ? parsePart(route.params, pathParams, PATH, 'NOT_FOUND') : NOTHING;
  const query = readQuery(route, request.url ?? '');
  const headers = route.headers
    ? parsePart(route.headers, pick(request.headers, route.headers), HEADER)
    : NOTHING;
  if (route.body === undefined) return { params, query, headers, body: null, bodyText: null };
  const { text, value } = await readJsonBody(
    exchange,
    maxBodyBytes,
    route.bodyReading === 'envelope' ? readEnvelope : readStrict,
  );
  return { params, query, headers, body: parsePart(route.body, value, BODY), bodyText: text };
};

const readQuery = (route: Route, url: string): unknown => {
  const mark = url.indexOf('?');
  const query = mark < 0 ? {} : parseQueryString(url.slice(mark + 1));
  if (route.query) return parsePart(route.query, query, QUERY);
  const [unknown] = Object.keys(query);
  if (unknown === undefined) return NOTHING;
  throw new ApiError('INVALID_REQUEST', `query parameter ${unknown.slice(0, 64)} is not known here`);
};

/** The declared headers that were sent. */
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
  // Again, this time keeping what was sent, for the message.
  const { error } = schema.safeParse(input, { reportInput: true });
  throw new ApiError(code, describeIssues(error?.issues ?? [], place));
};
