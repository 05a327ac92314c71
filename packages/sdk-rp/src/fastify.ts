/** Fastify: `app.post('/orders', { preHandler: requireAuthority({ … }) }, handler)`. */
import type { FastifyRequest } from 'fastify';
import { type AuthorityOptions, authorize, checkOptions, fieldsOf, type SvcAuthority } from './authorize.ts';
import { watchBody } from './body-fault.ts';

export { type AuthorityOptions, getAuthority, type SvcAuthority } from './authorize.ts';

/** The members of a Fastify request that are used. */
export interface FastifyRequestLike {
  method: string;
  /** Path and query as received, before any rewriting. */
  originalUrl: string;
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  svc?: SvcAuthority;
}

/** The members of a Fastify reply that are used. */
export interface FastifyReplyLike {
  /** Sets the HTTP status. */
  code(status: number): FastifyReplyLike;
  /** Sets headers. */
  headers(values: Record<string, string>): FastifyReplyLike;
  /** Sends a body. */
  send(body: unknown): FastifyReplyLike;
}

/**
 * A `preHandler` hook. Continues with `request.svc` if the Agent has authority. Otherwise it answers with 400, 401,
 * 403, 415, 500 or 503. Errors of `action` or `url` go to Fastify's error handler. So does a body that Fastify's
 * parsers refuse, for which that handler answers 400, 413 or 415.
 * @throws SvcError `configuration`
 * @example
 * app.post(
 *   '/orders',
 *   { preHandler: requireAuthority({ verifier, origin: 'https://shop.example', action: () => action }) },
 *   async (request) => getAuthority(request).receiptId,
 * );
 */
export function requireAuthority<Req extends FastifyRequestLike = FastifyRequest>(
  options: AuthorityOptions<Req>,
): (request: NoInfer<Req>, reply: FastifyReplyLike) => Promise<unknown> {
  const checked = checkOptions('requireAuthority', options);
  return async (request, reply) => {
    const { method, originalUrl: target, headers } = request;
    const { 'svc-grant': grant, 'svc-proof': proof } = headers;
    const watch = () => watchBody(request);
    const fields = () => fieldsOf(headers);
    const presented = { request, grant, proof, method, target, fields, watch, forAction: request };
    const authorization = await authorize(checked, presented);
    if (!authorization.ok) {
      const { status, headers, body } = authorization.refusal;
      // Returning a reply from a hook ends the request here.
      return reply.code(status).headers(headers).send(body);
    }
    request.svc = authorization.svc;
    return undefined;
  };
}
