/** Types derived from the routes: what a handler receives and what it may answer. */
import type { z } from 'zod';
import type { EmptyResponse, JsonResponse, RawResponse, Route, StreamResponse } from './route.ts';
import type { areas, routes } from './routes.ts';

export type Areas = typeof areas;
export type Area = keyof Areas;
export type Routes = typeof routes;
export type RouteId = keyof Routes;

type Nothing = Readonly<Record<never, never>>;
type Parsed<S> = S extends z.ZodType ? z.output<S> : Nothing;

/** The parsed request: unknown members were refused, defaults filled in, formats branded. */
export interface Input<R extends Route> {
  readonly params: R extends { readonly params: infer S } ? Parsed<S> : Nothing;
  readonly query: R extends { readonly query: infer S } ? Parsed<S> : Nothing;
  readonly headers: R extends { readonly headers: infer S } ? Parsed<S> : Nothing;
  readonly body: R extends { readonly body: infer S } ? Parsed<S> : null;
}

export type ResponseHeaders = Readonly<Record<string, string>>;

type JsonReply<Status, S extends z.ZodType> =
  | { readonly status: Status; readonly body: z.input<S>; readonly headers?: ResponseHeaders }
  | { readonly status: Status; readonly rawBody: string | Uint8Array; readonly headers?: ResponseHeaders };

interface RawReply<Status, T extends string> {
  readonly status: Status;
  readonly rawBody: string | Uint8Array;
  readonly contentType: T;
  readonly headers?: ResponseHeaders;
}

interface StreamReply<Status, T extends string> {
  readonly status: Status;
  /** Consumed no faster than the client reads, and ended early when the client disconnects. */
  readonly stream: AsyncIterable<string | Uint8Array>;
  readonly contentType: T;
  readonly headers?: ResponseHeaders;
}

interface EmptyReply<Status> {
  readonly status: Status;
  readonly isEmpty: true;
}

type Reply<Status, Response> =
  Response extends JsonResponse<infer S>
    ? JsonReply<Status, S>
    : Response extends RawResponse<infer T>
      ? RawReply<Status, T>
      : Response extends StreamResponse<infer T>
        ? StreamReply<Status, T>
        : Response extends EmptyResponse
          ? EmptyReply<Status>
          : never;

/** What a handler may answer. Errors are thrown, never returned. */
export type Output<R extends Route> = {
  [Status in keyof R['responses'] & number]: Reply<Status, R['responses'][Status]>;
}[keyof R['responses'] & number];

/** The JSON body of one declared status, for example `Body<Routes['verify'], 200>`. */
export type Body<R extends Route, Status extends keyof R['responses']> =
  R['responses'][Status] extends JsonResponse<infer S> ? z.input<S> : never;
