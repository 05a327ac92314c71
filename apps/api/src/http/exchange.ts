/**
 * One request and its answer, from the first byte to the log line. Every answer goes through `send`, so that it has the
 * request id, security headers and limits, however it was routed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import { ClientGone } from './client-gone.ts';
import { clientIpOf } from './client-ip.ts';
import type { Allowance } from './rate-limiter.ts';
import { requestIdFor } from './request-id.ts';
import type { FlatHeaders } from './security-headers.ts';

export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A body that is produced while it is sent, part by part. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  readonly stream: AsyncIterable<string | Uint8Array>;
  /** Milliseconds that the whole body may take, from its first part on; then the client is cut. No limit by default. */
  readonly streamMs?: number | undefined;
}

/** Settings that all exchanges of one service share. */
export interface ExchangeSettings {
  /** Base of the links in answers; without a trailing slash. */
  readonly publicBaseUrl: string;
  readonly securityHeaders: FlatHeaders;
  readonly trustProxyHops: number;
  /** Milliseconds for which a client may read nothing of a streamed body. */
  readonly stalledClientMs: number;
  /** True once the service is shutting down: connections are then not kept alive. */
  isDraining(): boolean;
}

/** A decision in the form of the log. */
export interface LoggedDecision {
  readonly receiptId: string;
  readonly decision: string;
  readonly reason: string | null;
  /** True: it is the stored answer to an earlier request. */
  readonly isRepeat: boolean;
}

/** The label of requests that match no route. */
export const NO_ROUTE = 'none';

export class Exchange {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  routeId: string = NO_ROUTE;
  caller: Caller | null = null;
  /** Time at which the answer is due, monotonic, whatever it waits for; null: each wait has its own limit. */
  answerByMs: number | null = null;
  /** Null: the request is not traced. */
  traceId: string | null = null;
  /** Called once the work for the request has ended, whether or not the client still waits for the answer. */
  leave: () => void = () => {};
  /** Time at which the whole body had been read; monotonic. */
  receivedAtMs = this.startedAtMs;
  /** Number of calls that the request counts as; a batch of verifications counts as many. */
  calls = 1;
  /** Number of decisions that were made for the request; each dry run counts as one. */
  decisions = 0;
  /** The decision that was answered, if the request was for a single one. */
  decided: LoggedDecision | null = null;
  /** True: its work waited for a host of a third party. */
  hasWaitedOnRemote = false;
  /** Decoded path parameters. */
  pathParams: Readonly<Record<string, unknown>> = {};
  /** True: it came to the host of the status lists, which has no pages. */
  isOnStatusHost = false;
  /** True: the client waits for `100 Continue` before it sends its body. */
  expectsContinue = false;
  readonly #headers: string[];
  /**
   * True: the request id has bytes above 127. Node would write such headers in the encoding of a text body that follows
   * them at once, so the body is then sent as bytes.
   */
  readonly #bodyAsBytes: boolean;
  #clientIp: string | null = null;
  #allowance: Allowance | null = null;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly settings: ExchangeSettings,
  ) {
    const { id, header, received } = requestIdFor(request.headers['x-request-id']);
    this.requestId = id;
    this.#bodyAsBytes = /[\x80-\xff]/.test(header);
    this.#headers = ['Svc-Request-Id', header];
    if (received) this.#headers.push('X-Request-ID', header);
  }

  get clientIp(): string {
    this.#clientIp ??= clientIpOf(this.request, this.settings.trustProxyHops);
    return this.#clientIp;
  }

  /** Records a limit for the answer, which shows the limit that refuses or else the one with the least left. */
  tellOf(allowance: Allowance): void {
    const isTighter = this.#allowance === null || allowance.remaining <= this.#allowance.remaining;
    if (isTighter || !allowance.allowed) this.#allowance = allowance;
  }

  /** Aborted when the connection is closed before the answer was sent. */
  clientGone(): AbortSignal {
    const gone = new AbortController();
    if (this.response.destroyed) gone.abort();
    else this.response.once('close', () => gone.abort());
    return gone.signal;
  }

  /** Adds a header to the answer of this exchange, whichever it is. */
  addHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** Sends the answer. The second answer to one request is a bug and is refused. */
  send(answer: Answer, securityHeaders: FlatHeaders = this.settings.securityHeaders): void {
    const { body } = answer;
    // A 304 has no body, and headers that it leaves out remain as the client has stored them; a 204 has no body either
    // (RFC 9110 §8.6).
    const length =
      answer.status === 304 || answer.status === 204
        ? []
        : ['Content-Length', String(Buffer.byteLength(body))];
    this.#begin(answer, [...securityHeaders, ...length]);
    this.response.end(this.request.method === 'HEAD' ? undefined : this.#asSent(body));
  }

  /**
   * Sends a body while it is produced, no faster than the client reads it. Nothing is sent before the first part is
   * there, so an earlier failure can still be answered. Rejects when producing the body fails; the answer is then not
   * ended. When the client disconnects or stops reading, no more of the body is produced.
   */
  async sendStream({ stream, streamMs, ...answer }: StreamedAnswer): Promise<void> {
    const { response, settings } = this;
    if (this.request.method === 'HEAD') {
      this.#begin(answer, settings.securityHeaders);
      response.end();
      return;
    }
    let cut: NodeJS.Timeout | undefined;
    try {
      for await (const part of stream) {
        if (response.destroyed) throw new ClientGone();
        if (streamMs !== undefined) cut ??= setTimeout(() => response.destroy(), streamMs);
        if (!response.headersSent) this.#begin(answer, settings.securityHeaders);
        if (!response.write(this.#asSent(part))) await drained(response);
      }
    } finally {
      clearTimeout(cut);
    }
    if (!response.headersSent) this.#begin(answer, settings.securityHeaders);
    response.end();
  }

  #asSent(body: string | Uint8Array): string | Uint8Array {
    return this.#bodyAsBytes && typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  }

  #begin({ status, contentType, headers: own = {} }: Omit<Answer, 'body'>, more: readonly string[]): void {
    const { response } = this;
    if (response.headersSent) throw new Error('the request has been answered already');
    const headers = [...more, ...this.#headers, ...limitHeaders(this.#allowance)];
    for (const name of Object.keys(own)) headers.push(name, own[name] ?? '');
    if (own['Cache-Control'] === undefined) headers.push('Cache-Control', 'no-store');
    if (contentType !== undefined) headers.push('Content-Type', contentType);
    if (this.settings.isDraining()) headers.push('Connection', 'close');
    // Closes the connection when the client reads nothing for so long, so that a client that does not read holds no
    // memory.
    response.socket?.setTimeout(this.settings.stalledClientMs);
    response.writeHead(status, headers);
  }
}

const limitHeaders = (allowance: Allowance | null): readonly string[] => {
  if (allowance === null) return [];
  const { limit, remaining, resetSeconds } = allowance;
  return [
    ...['RateLimit-Limit', String(limit)],
    ...['RateLimit-Remaining', String(remaining)],
    ...['RateLimit-Reset', String(resetSeconds)],
  ];
};

/**
 * Resolves once the client has read what was written; rejects when it has disconnected, or was cut because it read
 * nothing.
 */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      response.off('drain', onDrain).off('close', onClose);
      outcome();
    };
    const onDrain = () => settle(resolve);
    const onClose = () => settle(() => reject(new ClientGone()));
    if (response.destroyed) return onClose();
    response.once('drain', onDrain).once('close', onClose);
  });
