/** For handlers from `Request` to `Response`: Hono, Next.js, workers, Deno, Bun. */
import { aFunction, checkValue } from '@svc/sdk-core';
import { type AuthorityOptions, authorize, checkOptions, fieldsOf, type SvcAuthority } from './authorize.ts';
import { NOT_READ, UnreadableBodyError, type WatchedBody } from './body-fault.ts';

export type { AuthorityOptions, SvcAuthority } from './authorize.ts';

/** The Agent's authority, or the response that says why the request is refused. */
export type RequestAuthorization = { ok: true; svc: SvcAuthority } | { ok: false; response: Response };

/**
 * Makes a function that decides whether a request may continue, or answers it. `action` gets a copy of the request and
 * may read its body until `action` has returned. If it calls `json()`, a body that is not JSON is answered 400, and one
 * of more than 1 MiB 413. Rejects only with other errors of `action` or `url`.
 * @throws SvcError `configuration`
 * @example
 * const authorizeRequest = createAuthorizer({ verifier, origin: 'https://shop.example', action: () => action });
 * const authorization = await authorizeRequest(request);
 * if (!authorization.ok) answer(authorization.response);
 */
export function createAuthorizer(
  options: AuthorityOptions<Request>,
): (request: Request) => Promise<RequestAuthorization> {
  return authorizerOf(checkOptions('createAuthorizer', options));
}

function authorizerOf(
  checked: AuthorityOptions<Request>,
): (request: Request) => Promise<RequestAuthorization> {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const { copy, watched } = copyForAction(request);
    const authorization = await authorize(checked, {
      request,
      grant: request.headers.get('svc-grant'),
      proof: request.headers.get('svc-proof'),
      method: request.method,
      target: `${pathname}${search}`,
      fields: () => fieldsOf(Object.fromEntries(request.headers)),
      watch: () => watched,
      forAction: copy,
      // Also if the request was refused before `action` could read the copy.
    }).finally(() => watched.end());
    if (authorization.ok) return authorization;
    const { status, headers, body } = authorization.refusal;
    return { ok: false, response: new Response(JSON.stringify(body), { status, headers }) };
  };
}

/**
 * A copy whose body `action` may read, and what `action` found there. A body that is not JSON, that is too long, or
 * that is missing where an object is needed, is the caller's fault and not the relying party's.
 */
function copyForAction(request: Request): { readonly copy: Request; readonly watched: WatchedBody } {
  const copy = request.clone();
  const readAgain = copy.json.bind(copy);
  let body: unknown = NOT_READ;
  const json = async () => {
    // Rejects with the error for a body that was already read.
    if (copy.bodyUsed) return readAgain();
    const text = await readText(copy);
    try {
      body = JSON.parse(text);
    } catch (cause) {
      throw new UnreadableBodyError(text === '' ? 'not-sent' : 'malformed', { cause });
    }
    return body;
  };
  // Writable and configurable, because Next.js wraps requests in a Proxy: a Proxy may return another value only for
  // such a member.
  Object.defineProperty(copy, 'json', { value: json, writable: true, configurable: true });
  const watched = {
    get body() {
      return body;
    },
    // The headers do not matter: `json()` reads a body of any type.
    headers: {},
    end() {
      // Without this, the copy would buffer everything that the handler reads of the request. Not awaited; it rejects
      // if `action` has read the body.
      void copy.body?.cancel().catch(() => undefined);
    },
  };
  return { copy, watched };
}

/** The default limit of Fastify. */
const MAX_JSON_BYTES = 1_048_576;

/** Like `text()`, but with a size limit, because the sender is not authenticated yet. */
async function readText(request: Request): Promise<string> {
  const reader = request.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let total = 0;
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    total += piece.value.length;
    if (total > MAX_JSON_BYTES) {
      // Not awaited: it ends only when the original request is cancelled too.
      void reader?.cancel().catch(() => undefined);
      throw new UnreadableBodyError('too-large');
    }
    text += decoder.decode(piece.value, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Wraps a handler, which then runs only with authority. Further arguments, such as a worker's environment, are passed
 * on.
 * @throws SvcError `configuration`
 * @example
 * export const POST = protect({ verifier, origin: 'https://shop.example', action: () => action }, (_request, svc) =>
 *   Response.json(svc.receiptId),
 * );
 */
export function protect<Rest extends unknown[]>(
  options: AuthorityOptions<Request>,
  handler: (request: Request, svc: SvcAuthority, ...rest: Rest) => Response | Promise<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const authorizeRequest = authorizerOf(checkOptions('protect', options));
  checkValue('handler', handler, aFunction(), 'configuration');
  return async (request, ...rest) => {
    const authorization = await authorizeRequest(request);
    return authorization.ok ? handler(request, authorization.svc, ...rest) : authorization.response;
  };
}
