/** Turns replies and errors into answers. This is the one place that decides what a caller reads about a failure. */
import { asSentence, type ErrorBody, type ErrorCode } from '@svc/contract';
import type { FewLines } from '@svc/service';
import type { Logger } from 'pino';
import { ApiError } from './api-error.ts';
import { ClientGone } from './client-gone.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { Reply } from './handler.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Null: the whole answer has been handed over. Otherwise it is still being produced; the promise resolves at its end.
 */
export const answer = (exchange: Exchange, reply: Reply): Promise<void> | null => {
  const { status, contentType = JSON_TYPE, stream, streamMs } = reply;
  if (reply.isEmpty === true) {
    exchange.send({ status, body: '' });
    return null;
  }
  const head = { status, contentType, ...(reply.headers && { headers: reply.headers }) };
  if (stream !== undefined) return exchange.sendStream({ ...head, stream, streamMs });
  exchange.send({ ...head, body: reply.rawBody ?? JSON.stringify(reply.body) });
  return null;
};

export const errorText = (error: ErrorCode, message: string): string =>
  JSON.stringify({ error, message: publicMessage(message) } satisfies ErrorBody);

/**
 * The message of an error as callers read it: a sentence. Messages quote the input; a key in the wrong place, or a part
 * of one, is removed.
 */
export const publicMessage = (text: string): string =>
  asSentence(text).replaceAll(/\b(dk_(?:[a-z]+_)+)[0-9A-Za-z]{6,}/g, '$1…');

export const answerOfError = (error: ApiError, publicBaseUrl: string): Answer => ({
  status: error.status,
  contentType: JSON_TYPE,
  body: errorText(error.code, error.message),
  headers: { Link: helpLink(error.code, publicBaseUrl), ...error.headers },
});

/** Maximum depth of the path for relative links: with more, the page would be many times as long as the request. */
const MAX_DEPTH = 10;

/**
 * The same for a browser, in `template` (`loadErrorPage`). Links are relative, since a proxy may add a prefix to the
 * path.
 */
export const pageOfError = (error: ApiError, { request, settings }: Exchange, template: string): Answer => {
  const json = answerOfError(error, settings.publicBaseUrl);
  const depth = ((request.url ?? '').replace(/[?#].*$/, '').match(/\//g)?.length ?? 1) - 1;
  const root = depth > MAX_DEPTH ? `${settings.publicBaseUrl}/` : '../'.repeat(depth) || './';
  const message = publicMessage(error.message)
    .replaceAll(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replaceAll(/(?<= )\/(openapi\.json|docs|guide|llms\.txt)(?![\w./-])/g, `<a href="${root}$1">/$1</a>`);
  const given: Readonly<Record<string, string>> = { root, code: error.code, message };
  return {
    ...json,
    contentType: 'text/html; charset=utf-8',
    body: template.replaceAll(/\{(root|code|message)\}/g, (_, name: string) => given[name] ?? ''),
    headers: { ...json.headers, Vary: 'Accept' },
  };
};

/** Link to the guide's page about an error code (RFC 8288), as a header: the body has only two members. */
export const helpLink = (code: ErrorCode, publicBaseUrl: string): string =>
  `<${publicBaseUrl}/guide/errors/${code}>; rel="help"`;

/** The same for the reason of a DENY, whose body is the Receipt. */
export const reasonLink = (reason: string, publicBaseUrl: string): string =>
  `<${publicBaseUrl}/guide/reasons/${reason}>; rel="help"`;

/** A did:web DID with a port whose escape (`%3A`) was decoded as an escape of the URL. */
const DID_WITH_BARE_PORT = /^did:web:[A-Za-z0-9.-]+:[0-9]{1,5}(?:[:#]|$)/;

/** Adds a hint: callers easily omit one of the two levels of escapes, and the request then names an unknown DID. */
const withHint = (error: ApiError | null, { pathParams }: Exchange): ApiError | null => {
  if (error?.code !== 'NOT_FOUND') return error;
  const unescaped = Object.values(pathParams).some(
    (value) => typeof value === 'string' && DID_WITH_BARE_PORT.test(value),
  );
  if (!unescaped) return error;
  const hint = 'A % inside a DID is sent as %25.';
  const { code, message, headers } = error;
  return new ApiError(code, `${asSentence(message)} ${hint}`, { cause: error, headers });
};

export interface FailurePort {
  readonly logger: Logger;
  /**
   * Limits the log lines about answers 503: while a backing service is away, all requests fail alike, and each has its
   * line in the access log.
   */
  readonly unavailable: FewLines;
  /** Maps errors of the inner layers. Null: a bug. */
  readonly toApiError: (error: unknown) => ApiError | null;
}

/** Answers a failed request. If the answer has begun already, the connection can only be cut. */
export const sendFailure = (
  exchange: Exchange,
  thrown: unknown,
  { logger, unavailable, toApiError }: FailurePort,
): void => {
  if (thrown instanceof ClientGone) return;
  const known = withHint(thrown instanceof ApiError ? thrown : toApiError(thrown), exchange);
  const error =
    known ??
    new ApiError('INTERNAL', `The service failed. Report it with the request id ${exchange.requestId}`);
  const context = { requestId: exchange.requestId, route: exchange.routeId };
  if (known === null) logger.error({ ...context, err: thrown }, 'request failed');
  else if (known.code === 'INTERNAL')
    logger.error({ ...context, detail: known.detail, err: known.cause }, known.message);
  else if (known.status >= 500)
    unavailable.write({ ...context, detail: known.detail, err: known.cause }, known.message);
  const { response } = exchange;
  if (!response.headersSent) exchange.send(answerOfError(error, exchange.settings.publicBaseUrl));
  // It waits behind another answer: the connection is closed when it has it.
  else if (response.socket === null) response.destroy();
  // Reset, not closed: for an HTTP/1.0 client the end of the connection is the end of the body.
  else response.socket.resetAndDestroy();
};
