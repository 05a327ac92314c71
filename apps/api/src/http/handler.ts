/** The frame's view of an endpoint: a function from a parsed, authenticated request to a declared answer. */
import type { Area, Areas, Input, Output, Route, RouteId, Routes } from '@svc/contract';
import type { CallerOf } from './caller.ts';
import type { LoggedDecision } from './exchange.ts';
import type { Allowance } from './rate-limiter.ts';

export interface HandlerContext<R extends Route> extends Input<R> {
  /** The caller's class is one that the route admits. The handler checks whose resources the caller may use. */
  readonly caller: CallerOf<R>;
  /** The body exactly as received, or null where the route takes none. */
  readonly bodyText: string | null;
  readonly requestId: string;
  /** Address of the client as the configured proxies report it; for the console, the address of its customer. */
  readonly clientIp: string;
  /** Time at which the answer is due, monotonic; null where the route has no such deadline. */
  readonly answerByMs: number | null;
  /** Counts further calls, all or none, against the limit that this call was counted against. Throws 429. */
  readonly countMore: (calls: number) => void;
  /** Notes that the work waits for a host of a third party, so that its duration says nothing about this service. */
  readonly noteRemoteWait: () => void;
  /** Aborted once the client has closed the connection: no answer can be sent any more. */
  readonly clientGone: () => AbortSignal;
  /**
   * Notes a decision that was made; a request for a single decision has it in the log. Null: a dry run, which is not
   * logged.
   */
  readonly noteDecision: (decided: LoggedDecision | null) => void;
  /** Enforces a further limit on the call. Throws 429. */
  readonly enforceLimit: (allowance: Allowance) => void;
}

/** Answers with a declared status, or throws ApiError. Anything else that is thrown is answered INTERNAL. */
export type Handler<R extends Route> = (context: HandlerContext<R>) => Promise<Output<R>>;

/** A missing endpoint does not compile. */
export type Handlers = { readonly [K in RouteId]: Handler<Routes[K]> };
export type HandlersOf<A extends Area> = Pick<Handlers, RouteId & keyof Areas[A]>;

/** The answer of a handler as the pipeline sees it, without its route's types. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly rawBody?: string | Uint8Array;
  /** Status 204: there is no body. */
  readonly isEmpty?: true;
  /** Instead of a body: a body that is produced while it is sent. */
  readonly stream?: AsyncIterable<string | Uint8Array>;
  /** Milliseconds that the whole stream may take, against clients that read only a little at a time. */
  readonly streamMs?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
export type ErasedHandler = (context: unknown) => Promise<Reply>;
