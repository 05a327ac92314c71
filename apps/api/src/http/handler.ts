/** What an endpoint is to the frame: a function from a parsed, authenticated request to a declared answer. */
import type { Area, Areas, Input, Output, Route, RouteId, Routes } from '@svc/contract';
import type { CallerOf } from './caller.ts';
import type { LoggedDecision } from './exchange.ts';
import type { Allowance } from './rate-limiter.ts';

export interface HandlerContext<R extends Route> extends Input<R> {
  /** Already of a class the route lets in. Whose resources it may touch is the handler's to check. */
  readonly caller: CallerOf<R>;
  /** The body exactly as received, or null where the route takes none. */
  readonly bodyText: string | null;
  readonly requestId: string;
  /** Address of the client as the configured proxies report it; for the console, that of its customer. */
  readonly clientIp: string;
  /** When the answer is due, monotonic; null where the route has no such deadline. */
  readonly answerByMs: number | null;
  /** Counts further calls against the limit that this one was counted against, all or none. Throws 429. */
  readonly countMore: (calls: number) => void;
  /** Tells that the work waits for a host of somebody else: how long it takes says nothing about this service. */
  readonly noteRemoteWait: () => void;
  /** Aborted once the connection of the client is closed: nobody waits for the answer. */
  readonly clientGone: () => AbortSignal;
  /** Tells of a decision that was made; the log has that of a request for one. Null: a dry run, of which it has none. */
  readonly noteDecision: (decided: LoggedDecision | null) => void;
  /** Enforces one more limit on the call. Throws 429. */
  readonly enforceLimit: (allowance: Allowance) => void;
}

/** Answers a declared status, or throws ApiError. Anything else thrown is answered INTERNAL. */
export type Handler<R extends Route> = (context: HandlerContext<R>) => Promise<Output<R>>;

/** A missing endpoint does not compile. */
export type Handlers = { readonly [K in RouteId]: Handler<Routes[K]> };
export type HandlersOf<A extends Area> = Pick<Handlers, RouteId & keyof Areas[A]>;

/** A handler as the pipeline sees it, after the types have done their work. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly rawBody?: string | Uint8Array;
  /** 204: there is no body. */
  readonly isEmpty?: true;
  /** Instead of a body: one that is made while it is sent. */
  readonly stream?: AsyncIterable<string | Uint8Array>;
  /** How long that may take as a whole, for whoever reads a little of it all the time. */
  readonly streamMs?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
export type ErasedHandler = (context: unknown) => Promise<Reply>;
