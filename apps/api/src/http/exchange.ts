/**
 * One request and its answer, from the first byte to the log line. Everything that answers goes through `send`, so
 * request id, security headers and limits are on every answer, whichever way it was routed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import { clientIpOf } from './client-ip.ts';
import { requestIdFor } from './request-id.ts';
import type { FlatHeaders } from './security-headers.ts';

export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What every exchange of one service shares. */
export interface ExchangeSettings {
  readonly securityHeaders: FlatHeaders;
  readonly trustProxyHops: number;
  /** True once the service is shutting down: connections are not kept. */
  isDraining(): boolean;
}

/** The label of requests that match no route. */
export const NO_ROUTE = 'none';

export class Exchange {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  routeId: string = NO_ROUTE;
  caller: Caller | null = null;
  /** As Express decoded them. */
  pathParams: Readonly<Record<string, unknown>> = {};
  /** Set when the client waits for `100 Continue` before sending its body. */
  expectsContinue = false;
  readonly #headers: string[];
  #clientIp: string | null = null;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly settings: ExchangeSettings,
  ) {
    const { id, received } = requestIdFor(request.headers['x-request-id']);
    this.requestId = id;
    this.#headers = ['Svc-Request-Id', id];
    if (received) this.#headers.push('X-Request-ID', id);
  }

  get clientIp(): string {
    this.#clientIp ??= clientIpOf(this.request, this.settings.trustProxyHops);
    return this.#clientIp;
  }

  /** Adds a header to whatever answer this exchange ends with. */
  addHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** Sends the answer. The second answer to one request is a bug and is refused. */
  send(answer: Answer, securityHeaders: FlatHeaders = this.settings.securityHeaders): void {
    const { response } = this;
    if (response.headersSent) throw new Error('the request has been answered already');
    const own = answer.headers ?? {};
    const headers = [...securityHeaders, ...this.#headers];
    for (const name of Object.keys(own)) headers.push(name, own[name] ?? '');
    if (own['Cache-Control'] === undefined) headers.push('Cache-Control', 'no-store');
    if (answer.contentType !== undefined) headers.push('Content-Type', answer.contentType);
    headers.push('Content-Length', String(Buffer.byteLength(answer.body)));
    if (this.settings.isDraining()) headers.push('Connection', 'close');
    response.writeHead(answer.status, headers);
    response.end(this.request.method === 'HEAD' ? undefined : answer.body);
  }
}
