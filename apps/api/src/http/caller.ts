/** Callers as the frame and the handlers see them; who they are is the service's definition. */
import type { AuthClass, Route } from '@svc/contract';
import type { AuthenticateOptions, Caller, OrgCaller } from '@svc/service';

export type { Caller, RpCaller } from '@svc/service';

/**
 * Resolves a bearer token. Null: nobody's, or revoked. Rejects when that cannot be found out, which is a 503 and
 * never "nobody".
 */
export type Authenticate = (token: string, options: AuthenticateOptions) => Promise<Caller | null>;

type CallerOfClass<C extends AuthClass> = C extends 'org:admin'
  ? OrgCaller & { readonly role: 'admin' }
  : Extract<Caller, { readonly class: C }>;

/** The callers a route lets in; null on public routes. */
export type CallerOf<R extends Route> = R['auth'] extends readonly []
  ? null
  : CallerOfClass<R['auth'][number]>;
