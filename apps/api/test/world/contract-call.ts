/**
 * Calls whose every answer is checked against the contract. The route is found by method and path; status, body,
 * content type and the headers that all answers share are checked before the test gets the answer.
 */
import { type ErrorCode, errorCodesOf, type Route, routes } from '@svc/contract';
import { decodeUtf8 } from '@svc/protocol';
import { findResponseProblem } from './response-check.ts';
import { type Answer, call } from './tenants.ts';

type CallOptions = NonNullable<Parameters<typeof call>[3]>;

export interface ContractCallOptions extends CallOptions {
  /** Client address as the proxy in front reports it; by default a new one for each call. */
  readonly ip?: string;
}

export interface ContractAnswer extends Answer {
  /** The body as JSON; empty where the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

let addresses = 0;

/** An address that no rate limiter has seen, so that calls do not use up each other's limits. */
export const freshAddress = (): string => {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
};

/** One request; throws when the answer is not what the contract declares. */
export const contractCall = async (
  baseUrl: string,
  method: string,
  path: string,
  { ip = freshAddress(), headers, ...options }: ContractCallOptions = {},
): Promise<ContractAnswer> => {
  const sent = { 'x-forwarded-for': ip, ...headers };
  const answer = await call(baseUrl, method, path, { ...options, headers: sent });
  check({ method, path, headers: sent }, answer);
  return { ...answer, json: jsonOf(answer.text) };
};

/** `fetch` for the SDKs, under the same checks. */
export const contractFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const response = await fetch(request);
  const { pathname, search } = new URL(request.url);
  const text = await response.clone().text();
  const answer = { status: response.status, headers: Object.fromEntries(response.headers), text };
  check({ method: request.method, path: pathname + search, headers: {} }, answer);
  return response;
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const check = (sent: Sent, answer: Answer): void => {
  const route = findRoute(sent.method, sent.path);
  const problems = [...bodyProblems(sent, route, answer), ...headerProblems(sent, route, answer)];
  if (problems.length === 0) return;
  throw new Error(`${sent.method} ${sent.path} ${answer.status}: ${problems.join('; ')}\n${answer.text}`);
};

const bodyProblems = ({ method }: Sent, route: Route | null, answer: Answer): string[] => {
  const { status, text } = answer;
  if (method === 'HEAD') return text === '' ? [] : ['a HEAD answer has a body'];
  const error = status < 400 ? undefined : (jsonOf(text).error as ErrorCode | undefined);
  if (route === null) return status < 400 || error !== undefined ? [] : ['not an Error'];
  const problem = findResponseProblem(route, { status, contentType: header(answer, 'content-type'), text });
  if (problem !== null) return [problem];
  const undocumented = error !== undefined && !errorCodesOf(route).includes(error);
  return undocumented ? [`the reference does not list ${error} for this route`] : [];
};

const headerProblems = (sent: Sent, route: Route | null, answer: Answer): string[] => {
  const is = (name: string, right: RegExp) =>
    right.test(header(answer, name)) ? [] : [`${name} is ${JSON.stringify(header(answer, name))}`];
  const absent = (name: string) => (answer.headers[name] === undefined ? [] : [`${name} is present`]);
  return [
    ...is('svc-request-id', /^[^\r\n]+$/),
    ...requestIdProblems(sent, answer),
    ...is('x-content-type-options', /^nosniff$/),
    ...is('content-security-policy', /default-src 'none'/),
    ...is('referrer-policy', /^no-referrer$/),
    ...is('cache-control', /./),
    ...absent('x-powered-by'),
    ...absent('server'),
    ...is('ratelimit-limit', /^[1-9]\d*$/),
    ...is('ratelimit-remaining', /^\d+$/),
    ...is('ratelimit-reset', /^[1-9]\d{0,3}$/),
    ...(answer.status === 401 ? is('www-authenticate', /^Bearer$/) : absent('www-authenticate')),
    ...(answer.status === 405 ? is('allow', /^[A-Z]+(, [A-Z]+)*$/) : []),
    ...(saysWhenToRetry(answer) ? is('retry-after', /^[1-9]\d*$/) : absent('retry-after')),
    ...originProblems(route, answer),
  ];
};

/** `/healthz` answers 503 with a Health, which is a result and not a refusal. */
const saysWhenToRetry = ({ text }: Answer): boolean =>
  ['RATE_LIMITED', 'SERVICE_UNAVAILABLE'].includes(String(jsonOf(text).error));

/** An id that the caller chose is returned under both header names; an id that is not usable under neither. */
const requestIdProblems = ({ headers }: Sent, answer: Answer): string[] => {
  const sent = headers['x-request-id'] ?? '';
  const text = decodeUtf8(Buffer.from(sent, 'latin1')) ?? sent;
  const isUsable = /^\P{Cc}{1,1024}$/u.test(text);
  const echoed = answer.headers['x-request-id'];
  if (isUsable ? echoed !== sent : echoed !== undefined) return [`x-request-id is ${JSON.stringify(echoed)}`];
  return isUsable && answer.headers['svc-request-id'] !== sent ? ['svc-request-id is not what was sent'] : [];
};

/** A page of any origin may read public routes, and none may read a route that takes a credential. */
const originProblems = (route: Route | null, answer: Answer): string[] => {
  if (route === null) return [];
  const allowed = answer.headers['access-control-allow-origin'];
  const right = route.auth.length === 0 ? '*' : undefined;
  return allowed === right ? [] : [`access-control-allow-origin is ${allowed}`];
};

/** The route of a method and path; HEAD counts as GET. */
const findRoute = (method: string, path: string): Route | null => {
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const place = path.split('?', 1)[0] ?? '';
  if (!isWellEncoded(place)) return null;
  const found = (Object.values(routes) as Route[]).filter((route) => matches(route, place));
  // A fixed segment takes precedence over a parameter, whatever the method.
  const fixed = found.filter((route) => !route.path.includes('{'));
  return (fixed.length > 0 ? fixed : found).find((route) => route.method === name) ?? null;
};

/** A path whose percent-escapes are broken names no route. */
const isWellEncoded = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

const matches = (route: Route, path: string): boolean => {
  const pattern = route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path);
};

const header = ({ headers }: Answer, name: string): string => [headers[name] ?? ''].flat().join(', ');

const jsonOf = (text: string): Record<string, unknown> => {
  if (!text.startsWith('{')) return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Several lines of JSON are not one JSON value.
    return {};
  }
};
