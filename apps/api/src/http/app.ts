/**
 * Routing by Express: the contract's paths, the reference, the pages, and what answers everything else. 404, 405, `Allow`
 * and OPTIONS are read off the contract. Express only routes; the pipeline answers.
 */
import { type Route, type RouteId, routes } from '@svc/contract';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { ApiError } from './api-error.ts';
import { docsPages } from './docs.ts';
import type { Exchange } from './exchange.ts';
import type { StaticPage } from './pages.ts';
import { allowAnyOrigin, type Pipeline } from './pipeline.ts';
import { answerOfError } from './respond.ts';
import type { SecurityHeaders } from './security-headers.ts';

/** Finds the exchange that the listener began for a request. */
export type ExchangeOf = (request: object) => Exchange;

export interface AppOptions {
  readonly pipeline: Pipeline;
  readonly exchangeOf: ExchangeOf;
  readonly publicBaseUrl: string;
  readonly pages: readonly StaticPage[];
  readonly securityHeaders: SecurityHeaders;
}

export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('query parser', false);
  mountRoutes(app, options);
  mountDocs(app, options);
  mountPages(app, options);
  mountFrontDoor(app, options);
  mountRest(app, options);
  return app;
};

const mountRoutes = (app: Express, { pipeline, exchangeOf }: AppOptions): void => {
  for (const [path, ids] of idsByPath()) {
    const place = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const id of ids) {
      const bound = pipeline.bind(id);
      place[bound.route.method]((request, _response) =>
        pipeline.run(bound, exchangeOf(request), request.params),
      );
    }
    const found = ids.map((id): Route => routes[id]).filter((route) => pipeline.isOffered(route));
    if (found.length > 0)
      place.all(otherMethods(allowedMethods(found), found.every(isPublic), pipeline, exchangeOf));
  }
};

const mountDocs = (
  app: Express,
  { pipeline, exchangeOf, publicBaseUrl, securityHeaders }: AppOptions,
): void => {
  for (const page of docsPages(publicBaseUrl)) {
    app
      .route(page.path)
      .get(async (request) => {
        const exchange = exchangeOf(request);
        exchange.routeId = 'docs';
        pipeline.gate.admitPublic(exchange);
        allowAnyOrigin(exchange);
        exchange.send(await page.answer(), securityHeaders.docs);
      })
      .all(otherMethods('GET, HEAD, OPTIONS', true, pipeline, exchangeOf));
  }
};

const mountPages = (app: Express, { pipeline, exchangeOf, pages, securityHeaders }: AppOptions): void => {
  for (const page of pages) {
    app
      .route(page.path)
      .get((request) => {
        const exchange = exchangeOf(request);
        exchange.routeId = 'pages';
        pipeline.gate.admitPublic(exchange);
        exchange.send(page.answer(request.headers['if-none-match']), securityHeaders.pages);
      })
      .all(otherMethods('GET, HEAD, OPTIONS', false, pipeline, exchangeOf));
  }
};

/** A person who opens the bare address in a browser is shown the reference; a program gets the 404 of any path. */
const mountFrontDoor = (app: Express, { pipeline, exchangeOf }: AppOptions): void => {
  app.get('/', (request, _response, next) => {
    if (request.headers.accept?.includes('text/html') !== true) return next();
    const exchange = exchangeOf(request);
    exchange.routeId = 'docs';
    pipeline.gate.admitPublic(exchange);
    // Relative, so that it works behind a path prefix too.
    exchange.send({ status: 302, body: '', headers: { Location: 'docs', Vary: 'Accept' } });
  });
};

const mountRest = (app: Express, { pipeline, exchangeOf }: AppOptions): void => {
  app.use((request) => {
    pipeline.gate.admitPublic(exchangeOf(request));
    throw new ApiError('NOT_FOUND', 'There is no such path; /docs lists what there is');
  });
  // Express cannot decode a parameter whose percent-escapes are broken. No route was found, so no limit has counted.
  const onBrokenPath: ErrorRequestHandler = (error, request, _response, next) => {
    if (!(error instanceof URIError)) return next(error);
    pipeline.gate.admitPublic(exchangeOf(request));
    throw new ApiError('INVALID_REQUEST', 'the path is not well percent-encoded');
  };
  const onError: ErrorRequestHandler = (error, request, _response, _next) =>
    pipeline.fail(exchangeOf(request), error);
  app.use(onBrokenPath, onError);
};

const isPublic = (route: Route): boolean => route.auth.length === 0;

/** Answers OPTIONS and 405 for a path that exists. */
const otherMethods =
  (allow: string, isPublicPath: boolean, pipeline: Pipeline, exchangeOf: ExchangeOf): RequestHandler =>
  (request) => {
    const exchange = exchangeOf(request);
    if (isPublicPath) allowAnyOrigin(exchange);
    pipeline.gate.admitPublic(exchange);
    exchange.addHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      const preflight = {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': 'Content-Type, X-Request-ID',
        'Access-Control-Max-Age': '86400',
      };
      exchange.send({ status: 200, body: '', headers: isPublicPath ? preflight : {} });
    } else {
      exchange.send(answerOfError(new ApiError('METHOD_NOT_ALLOWED', `This path takes ${allow}`)));
    }
  };

const allowedMethods = (found: readonly Route[]): string => {
  const methods = new Set(found.map((route) => route.method.toUpperCase()));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
};

/** Route ids by path, fixed segments before parameters, so that `/a/b` is never taken for `/a/{id}`. */
const idsByPath = (): readonly (readonly [string, readonly RouteId[]])[] => {
  const byPath = new Map<string, RouteId[]>();
  for (const id of Object.keys(routes) as RouteId[]) {
    const { path } = routes[id];
    byPath.set(path, [...(byPath.get(path) ?? []), id]);
  }
  // "{" sorts after every letter, digit and mark that a fixed segment begins with.
  return [...byPath].sort(([left], [right]) => (left < right ? -1 : 1));
};
