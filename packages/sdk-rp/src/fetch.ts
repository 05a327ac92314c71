/** Handlers from `Request` to `Response`: Hono, Next.js, workers, Deno, Bun. */
import { aFunction, checkValue } from '@svc/sdk-core';
import { type AuthorityOptions, authorize, checkOptions, fieldsOf, type SvcAuthority } from './authorize.ts';
import { NOT_READ, UnreadableBodyError, type WatchedBody } from './body-fault.ts';

export type { AuthorityOptions, SvcAuthority } from './authorize.ts';

/** What the Agent may do, or the response that says why it may not. */
export type RequestAuthorization = { ok: true; svc: SvcAuthority } | { ok: false; response: Response };

/**
 * A function that says whether a request may go on, or answers it. `action` gets a copy whose body it may read until
 * `action` has answered: where it asks for `json()`, a body that is not JSON is answered 400, and one of more than 1
 * MiB 413. Rejects only with what else `action` or `url` throws.
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
      // Also where it was refused before `action` could read the copy.
    }).finally(() => watched.end());
    if (authorization.ok) return authorization;
    const { status, headers, body } = authorization.refusal;
    return { ok: false, response: new Response(JSON.stringify(body), { status, headers }) };
  };
}

/**
 * A copy whose body `action` may read, and what it found there: a body that is no JSON, or too long, or none where an object is
 * needed, is the caller's fault and none of the shop's.
 */
function copyForAction(request: Request): { readonly copy: Request; readonly watched: WatchedBody } {
  const copy = request.clone();
  const readAgain = copy.json.bind(copy);
  let body: unknown = NOT_READ;
  const json = async () => {
    // Which says what is wrong with that.
    if (copy.bodyUsed) return readAgain();
    const text = await readText(copy);
    try {
      body = JSON.parse(text);
    } catch (cause) {
      throw new UnreadableBodyError(text === '' ? 'not-sent' : 'malformed', { cause });
    }
    return body;
  };
  // As Next.js hands requests out, behind a proxy: only of what can be changed may a proxy answer something else.
  Object.defineProperty(copy, 'json', { value: json, writable: true, configurable: true });
  const watched = {
    get body() {
      return body;
    },
    // The headers do not matter: `json()` reads a body of any type.
    headers: {},
    end() {
      // Else all that the handler reads of the request would be kept for it. Not awaited, and refused where `action` has read it.
      void copy.body?.cancel().catch(() => undefined);
    },
  };
  return { copy, watched };
}

/** As much as Fastify takes unless told otherwise. */
const MAX_JSON_BYTES = 1_048_576;

/** As `text()` does, but for a bound: nobody is known yet to be who sends it. */
async function readText(request: Request): Promise<string> {
  const reader = request.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let total = 0;
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    total += piece.value.length;
    if (total > MAX_JSON_BYTES) {
      // Not awaited: it ends when the request that was copied is given up too.
      void reader?.cancel().catch(() => undefined);
      throw new UnreadableBodyError('too-large');
    }
    text += decoder.decode(piece.value, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * A handler that runs only with authority. Further arguments, such as a worker's environment, are passed on.
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
