/** Express 4 and 5: `app.post('/orders', express.json(), requireAuthority({ … }), handler)`. */
import type { Request } from 'express';
import { type AuthorityOptions, authorize, checkOptions, type SvcAuthority } from './authorize.ts';

export { type AuthorityOptions, getAuthority, type SvcAuthority } from './authorize.ts';

/** What is used of an Express request. */
export interface ExpressRequest {
  method: string;
  /** Path and query as received, whatever router the middleware is mounted in. */
  originalUrl: string;
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  svc?: SvcAuthority;
}

/** What is used of an Express response. */
export interface ExpressResponse {
  /** Sets the HTTP status. */
  status(code: number): ExpressResponse;
  /** Sets headers. */
  set(headers: Record<string, string>): ExpressResponse;
  /** Sends a body as JSON. */
  json(body: unknown): unknown;
}

/** A middleware: calls `next` without an error where the request may go on, and answers it otherwise. */
export type ExpressHandler<Req> = (
  request: Req,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Continues with `req.svc` if the Agent may; else answers 400, 401, 403, 500 or 503. What `action` or `url` throws goes to
 * `next(error)`. Parse the body before it if `action` needs the body.
 * @throws SvcError `configuration`
 */
export function requireAuthority<Req extends ExpressRequest = Request>(
  options: AuthorityOptions<Req>,
): ExpressHandler<NoInfer<Req>> {
  const checked = checkOptions('requireAuthority', options);
  return (request, response, next) => {
    authorizeRequest(checked, request)
      .then((authorization) => {
        if (!authorization.ok) {
          const { status, headers, body } = authorization.refusal;
          response.status(status).set(headers).json(body);
          return;
        }
        request.svc = authorization.svc;
        next();
      })
      .catch(next);
  };
}

function authorizeRequest<Req extends ExpressRequest>(options: AuthorityOptions<Req>, request: Req) {
  const { method, originalUrl: target, headers, body } = request;
  const { 'svc-grant': grant, 'svc-proof': proof } = headers;
  const parsed = { body, headers };
  return authorize(options, { request, grant, proof, method, target, parsed, forAction: request });
}
