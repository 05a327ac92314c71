/** Handlers from `Request` to `Response`: Hono, Next.js, workers, Deno, Bun. */
import { aFunction, checkValue } from '@svc/sdk-core';
import { type AuthorityOptions, authorize, checkOptions, type SvcAuthority } from './authorize.ts';
import { type ParsedBody, UnreadableBodyError } from './missing-body.ts';

export type { AuthorityOptions, SvcAuthority } from './authorize.ts';

/** What has not been read is not missing. */
const NOT_READ = Symbol('not read');

/** What the Agent may do, or the response that says why it may not. */
export type RequestAuthorization = { ok: true; svc: SvcAuthority } | { ok: false; response: Response };

/**
 * A function that says whether a request may go on, or answers it. `action` gets a copy whose body it may read: a body that is
 * not JSON where `action` asks for `json()` is answered 400. Rejects only with what else `action` or `url` throws.
 * @throws SvcError `configuration`
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
    const { copy, parsed } = copyForAction(request);
    const authorization = await authorize(checked, {
      request,
      grant: request.headers.get('svc-grant'),
      proof: request.headers.get('svc-proof'),
      method: request.method,
      target: `${pathname}${search}`,
      parsed,
      forAction: copy,
    });
    if (authorization.ok) return authorization;
    const { status, headers, body } = authorization.refusal;
    return { ok: false, response: new Response(JSON.stringify(body), { status, headers }) };
  };
}

/**
 * A copy whose body `action` may read, and what it found there: a body that is no JSON, or none where an object is needed, is the
 * caller's fault and none of the shop's.
 */
function copyForAction(request: Request): { readonly copy: Request; readonly parsed: ParsedBody } {
  const copy = request.clone();
  const readJson = copy.json.bind(copy);
  let body: unknown = NOT_READ;
  const json = async () => {
    try {
      body = await readJson();
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new UnreadableBodyError(cause.message, { cause });
    }
    return body;
  };
  Object.defineProperty(copy, 'json', { value: json });
  const parsed = {
    get body() {
      return body;
    },
    // Of no matter: `json()` reads a body of any type.
    headers: {},
  };
  return { copy, parsed };
}

/** A handler that runs only with authority. Further arguments, such as a worker's environment, are passed on. */
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
