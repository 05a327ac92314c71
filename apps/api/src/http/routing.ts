/**
 * Maps paths to responders: the contract's routes, the OpenAPI document, the pages, and the answer to everything else.
 * 404, 405, `Allow` and OPTIONS are derived from the contract.
 */
import { type Route, type RouteId, routes } from '@svc/contract';
import { ApiError } from './api-error.ts';
import type { Exchange } from './exchange.ts';
import { openApiDocument } from './openapi-document.ts';
import type { StaticPage } from './pages.ts';
import { allowAnyOrigin, type Pipeline } from './pipeline.ts';
import { preferredType, type Wishes } from './representations.ts';
import { answerOfError, pageOfError } from './respond.ts';
import { type Place, type Respond, type RouteMatch, Router } from './router.ts';
import type { SecurityHeaders } from './security-headers.ts';

export interface RoutingOptions {
  readonly pipeline: Pipeline;
  readonly publicBaseUrl: string;
  readonly pages: readonly StaticPage[];
  readonly errorPage: string;
  readonly securityHeaders: SecurityHeaders;
}

/** Answers every request. Never rejects. */
export type Dispatch = (exchange: Exchange) => Promise<void>;

export const createDispatch = (options: RoutingOptions): Dispatch => {
  const { pipeline } = options;
  const router = new Router([...routePlaces(pipeline), documentPlace(options), ...pagePlaces(options)]);
  return async (exchange) => {
    try {
      const { respond, params } = find(router, exchange) ?? { respond: nowhere(pipeline), params: {} };
      await respond(exchange, params);
    } catch (error) {
      // Routes of the contract have answered their errors already: this one is of a page or an unknown path.
      if (error instanceof ApiError && isBrowser(exchange)) {
        const page = pageOfError(error, exchange, options.errorPage);
        exchange.send(page, options.securityHeaders.pages);
      } else pipeline.fail(exchange, error);
    }
  };

  function find(router: Router, exchange: Exchange): RouteMatch | null {
    const { method = '', url = '' } = exchange.request;
    try {
      return router.find(method, url);
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      // No route was found, so no limit has counted the request.
      pipeline.gate.admitPublic(exchange);
      throw new ApiError('INVALID_REQUEST', 'the path is not well percent-encoded');
    }
  }
};

/** Whether the client prefers HTML to JSON, on a host that has pages. */
const isBrowser = ({ request: { headers }, isOnStatusHost }: Exchange): boolean =>
  !isOnStatusHost && preferredType(headers.accept, ['application/json', 'text/html']) === 'text/html';

const nowhere =
  ({ gate }: Pipeline): Respond =>
  (exchange) => {
    gate.admitPublic(exchange);
    throw noSuchPath();
  };

const noSuchPath = () =>
  new ApiError(
    'NOT_FOUND',
    'There is no such path; /openapi.json and /docs list what there is, /guide and /llms.txt explain it',
  );

const routePlaces = (pipeline: Pipeline): Place[] =>
  idsByPath().map(([template, ids]) => {
    const methods = ids.map((id): [string, Respond] => {
      const bound = pipeline.bind(id);
      return [bound.route.method.toUpperCase(), (exchange, params) => pipeline.run(bound, exchange, params)];
    });
    const offered = ids.map((id): Route => routes[id]).filter((route) => pipeline.isOffered(route));
    const others =
      offered.length === 0 ? null : otherMethods(allowedMethods(offered), offered.every(isPublic), pipeline);
    return { template, methods: new Map(methods), others };
  });

const documentPlace = ({ pipeline, publicBaseUrl }: RoutingOptions): Place => {
  const answerTo = openApiDocument(publicBaseUrl);
  return readPlace('/openapi.json', otherMethods(READ_METHODS, true, pipeline), async (exchange) => {
    exchange.routeId = 'docs';
    pipeline.gate.admitPublic(exchange);
    allowAnyOrigin(exchange);
    exchange.send(await answerTo(wishesOf(exchange)));
  });
};

const pagePlaces = (options: RoutingOptions): Place[] =>
  options.pages.flatMap((page) => [pagePlace(options, page), ...withSlash(options, page)]);

/**
 * The page's address with a trailing slash redirects to the page. Links on the page are relative, so it is not served
 * there.
 */
const withSlash = ({ pipeline }: RoutingOptions, { path }: StaticPage): readonly Place[] => {
  if (path === '/' || path.includes('.')) return [];
  // Relative, since a proxy may add a prefix to the path.
  const headers = { Location: `../${path.slice(path.lastIndexOf('/') + 1)}` };
  const others = otherMethods(READ_METHODS, false, pipeline);
  const place = readPlace(`${path}/`, others, (exchange) => {
    exchange.routeId = 'pages';
    pipeline.gate.admitToPages(exchange);
    exchange.send({ status: 308, body: '', headers });
  });
  return [place];
};

const pagePlace = ({ pipeline, securityHeaders }: RoutingOptions, page: StaticPage): Place => {
  const isStart = page.path === '/';
  const others = isStart ? null : otherMethods(READ_METHODS, false, pipeline);
  return readPlace(page.path, others, (exchange) => {
    exchange.routeId = 'pages';
    pipeline.gate.admitToPages(exchange);
    // The root address redirects a person to the start page; a program that accepts no HTML gets the 404 of any unknown
    // path.
    if (isStart && preferredType(exchange.request.headers.accept, ['text/html']) === undefined)
      throw noSuchPath();
    exchange.send(page.answer(wishesOf(exchange)), securityHeaders[page.policy]);
  });
};

const wishesOf = ({ request: { headers } }: Exchange): Wishes => ({
  accept: headers.accept,
  acceptEncoding: headers['accept-encoding']?.toString(),
  ifNoneMatch: headers['if-none-match'],
});

const readPlace = (template: string, others: Respond | null, respond: Respond): Place => ({
  template,
  methods: new Map([['GET', respond]]),
  others,
});

const isPublic = (route: Route): boolean => route.auth.length === 0;

/** Answers OPTIONS and 405 for a path that exists. */
const otherMethods =
  (allow: string, isPublicPath: boolean, { gate }: Pipeline): Respond =>
  (exchange) => {
    if (isPublicPath) allowAnyOrigin(exchange);
    gate.admitPublic(exchange);
    exchange.addHeader('Allow', allow);
    if (exchange.request.method === 'OPTIONS') {
      const preflight = {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': 'Content-Type, X-Request-ID',
        'Access-Control-Max-Age': '86400',
      };
      exchange.send({ status: 200, body: '', headers: isPublicPath ? preflight : {} });
    } else {
      const error = new ApiError('METHOD_NOT_ALLOWED', `This path takes ${allow}`);
      exchange.send(answerOfError(error, exchange.settings.publicBaseUrl));
    }
  };

const READ_METHODS = 'GET, HEAD, OPTIONS';

const allowedMethods = (found: readonly Route[]): string => {
  const methods = new Set(found.map((route) => route.method.toUpperCase()));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
};

/** Route ids by path, fixed segments before parameters, so that `/a/b` never matches `/a/{id}`. */
const idsByPath = (): readonly (readonly [string, readonly RouteId[]])[] => {
  const byPath = new Map<string, RouteId[]>();
  for (const id of Object.keys(routes) as RouteId[]) {
    const { path } = routes[id];
    byPath.set(path, [...(byPath.get(path) ?? []), id]);
  }
  // "{" sorts after every letter, digit and mark with which a fixed segment begins.
  return [...byPath].sort(([left], [right]) => (left < right ? -1 : 1));
};
