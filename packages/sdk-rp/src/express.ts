/** Express 4 and 5: `app.post('/orders', express.json(), requireAuthority({ … }), handler)`. */
import type { Request } from 'express';
import { type AuthorityOptions, authorize, checkOptions, fieldsOf, type SvcAuthority } from './authorize.ts';
import { findParserFault, watchBody } from './body-fault.ts';
import { type Refusal, refuseBody } from './refusal.ts';

export { type AuthorityOptions, getAuthority, type SvcAuthority } from './authorize.ts';

/** The members of an Express request that are used. */
export interface ExpressRequest {
  method: string;
  /** Path and query as received, independent of the router in which the middleware is mounted. */
  originalUrl: string;
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  svc?: SvcAuthority;
}

/** The members of an Express response that are used. */
export interface ExpressResponse {
  /** Sets the HTTP status. */
  status(code: number): ExpressResponse;
  /** Sets headers. */
  set(headers: Record<string, string>): ExpressResponse;
  /** Sends a body as JSON. */
  json(body: unknown): unknown;
}

/** A middleware: calls `next` without an error if the request may continue, and answers the request otherwise. */
export type ExpressHandler<Req> = (
  request: Req,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Continues with `req.svc` if the Agent has authority; otherwise answers 400, 401, 403, 413, 415, 500 or 503. Errors of
 * `action` or `url` go to `next(error)`. If `action` needs the body, parse it before, and mount `refuseUnreadableBody`.
 * @throws SvcError `configuration`
 * @example
 * const prices = new Map([[7, 42_700]]); // the shop's own: an Agent names an order, never its price
 * const guard = requireAuthority({
 *   verifier,
 *   origin: 'https://shop.example',
 *   action: (req) => ({ type: 'commerce:purchase', resource: `order/${req.body.id}`, amount: prices.get(req.body.id) ?? -1, currency: 'USD' }),
 * });
 * app.post('/orders', express.json(), guard, (req, res) => res.json(getAuthority(req).receiptId));
 */
export function requireAuthority<Req extends ExpressRequest = Request>(
  options: AuthorityOptions<Req>,
): ExpressHandler<NoInfer<Req>> {
  const checked = checkOptions('requireAuthority', options);
  return (request, response, next) => {
    authorizeRequest(checked, request)
      .then((authorization) => {
        if (!authorization.ok) return answer(response, authorization.refusal);
        request.svc = authorization.svc;
        next();
      })
      .catch(next);
  };
}

function authorizeRequest<Req extends ExpressRequest>(options: AuthorityOptions<Req>, request: Req) {
  const { method, originalUrl: target, headers } = request;
  const { 'svc-grant': grant, 'svc-proof': proof } = headers;
  const watch = () => watchBody(request);
  const fields = () => fieldsOf(headers);
  return authorize(options, { request, grant, proof, method, target, fields, watch, forAction: request });
}

/**
 * An error handler, mounted after the routes. If a parser such as `express.json()` refused a body, it answers 400, 413
 * or 415 in the form of the other refusals. Express alone would answer with a page and, outside production, a stack.
 * All other errors go to the next error handler.
 * @example
 * app.use(refuseUnreadableBody);
 */
export function refuseUnreadableBody(
  error: unknown,
  _request: unknown,
  response: ExpressResponse,
  next: (error?: unknown) => void,
): void {
  const fault = findParserFault(error);
  if (fault === null) next(error);
  else answer(response, refuseBody(fault).refusal);
}

function answer(response: ExpressResponse, { status, headers, body }: Refusal): void {
  response.status(status).set(headers).json(body);
}
