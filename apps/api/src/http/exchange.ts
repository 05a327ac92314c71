/**
 * One request and its answer, from the first byte to the log line. Everything that answers goes through `send`, so
 * request id, security headers and limits are on every answer, whichever way it was routed.
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

/** A body that is made while it is sent, part by part. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  readonly stream: AsyncIterable<string | Uint8Array>;
  /** How long it may take as a whole, from its first part on; the client is cut then. As long as it likes unless given. */
  readonly streamMs?: number | undefined;
}

/** What every exchange of one service shares. */
export interface ExchangeSettings {
  /** Where answers say that more is to be read; without a slash at its end. */
  readonly publicBaseUrl: string;
  readonly securityHeaders: FlatHeaders;
  readonly trustProxyHops: number;
  /** How long a client may take nothing of a streamed body. */
  readonly stalledClientMs: number;
  /** True once the service is shutting down: connections are not kept. */
  isDraining(): boolean;
}

/** A decision, as the log has it. */
export interface LoggedDecision {
  readonly receiptId: string;
  readonly decision: string;
  readonly reason: string | null;
  /** It is the stored answer to an earlier request. */
  readonly isRepeat: boolean;
}

/** The label of requests that match no route. */
export const NO_ROUTE = 'none';

export class Exchange {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  routeId: string = NO_ROUTE;
  caller: Caller | null = null;
  /** When the answer is due, monotonic, whatever is waited for; null: each wait has a limit of its own. */
  answerByMs: number | null = null;
  /** Null: it is not traced. */
  traceId: string | null = null;
  /** Called once the work for the request has ended, whether anybody still waits for its answer or not. */
  leave: () => void = () => {};
  /** When its body had been read; monotonic. */
  receivedAtMs = this.startedAtMs;
  /** Calls that it counts as; a batch of verifications is many. */
  calls = 1;
  /** Number of decisions that were made for it, each dry run as one. */
  decisions = 0;
  /** What it was answered, where that is one decision. */
  decided: LoggedDecision | null = null;
  /** Its work waited for a host of somebody else. */
  hasWaitedOnRemote = false;
  /** Decoded. */
  pathParams: Readonly<Record<string, unknown>> = {};
  /** It came to the host of the status lists, where there are no pages. */
  isOnStatusHost = false;
  /** Set when the client waits for `100 Continue` before sending its body. */
  expectsContinue = false;
  readonly #headers: string[];
  /** Node writes headers in the encoding of a text that follows them at once; these are bytes already. */
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

  /** The answer tells of the limit that has the least left, or else of the one that refuses. */
  tellOf(allowance: Allowance): void {
    const isTighter = this.#allowance === null || allowance.remaining <= this.#allowance.remaining;
    if (isTighter || !allowance.allowed) this.#allowance = allowance;
  }

  /** Aborted when the connection is closed before the answer was sent. */
  clientGone(): AbortSignal {
    const gone = new AbortController();
    if (this.response.closed) gone.abort();
    else this.response.once('close', () => gone.abort());
    return gone.signal;
  }

  /** Adds a header to whatever answer this exchange ends with. */
  addHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** Sends the answer. The second answer to one request is a bug and is refused. */
  send(answer: Answer, securityHeaders: FlatHeaders = this.settings.securityHeaders): void {
    const { body } = answer;
    // A 304 has no body, and what it leaves out stays as the client holds it; a 204 has none either (RFC 9110 §8.6).
    const length =
      answer.status === 304 || answer.status === 204
        ? []
        : ['Content-Length', String(Buffer.byteLength(body))];
    this.#begin(answer, [...securityHeaders, ...length]);
    this.response.end(this.request.method === 'HEAD' ? undefined : this.#asSent(body));
  }

  /**
   * Sends a body while it is made, no faster than the client takes it. Until its first part is there nothing is sent, so
   * what fails before can still be answered. Rejects when making it fails; the answer is then not ended. When the
   * client goes away or stops reading, no more of the body is made.
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
        if (response.closed) throw new ClientGone();
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
    // Ends the connection when nothing of what is written goes out for so long: whoever does not read holds no memory.
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

/** Resolves once the client has taken what was written; rejects when it is gone, or was cut because it took nothing. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      response.off('drain', onDrain).off('close', onClose);
      outcome();
    };
    const onDrain = () => settle(resolve);
    const onClose = () => settle(() => reject(new ClientGone()));
    if (response.closed) return onClose();
    response.once('drain', onDrain).once('close', onClose);
  });
