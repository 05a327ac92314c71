/** Callers as the frame and the handlers see them; the service defines their classes. */
import type { AuthClass, Route } from '@svc/contract';
import type { AuthenticateOptions, Caller, OrgCaller } from '@svc/service';

export type { Caller, RpCaller } from '@svc/service';

/**
 * Resolves a bearer token. Null: the token is unknown or revoked. Rejects when this cannot be determined; the answer is
 * then 503, never 401.
 */
export type Authenticate = (token: string, options: AuthenticateOptions) => Promise<Caller | null>;

type CallerOfClass<C extends AuthClass> = C extends 'org:admin'
  ? OrgCaller & { readonly role: 'admin' }
  : Extract<Caller, { readonly class: C }>;

/** The callers that a route admits; null on public routes. */
export type CallerOf<R extends Route> = R['auth'] extends readonly []
  ? null
  : CallerOfClass<R['auth'][number]>;
