/** Replies and errors as answers. One place decides what a caller is told of a failure. */
import { asSentence, type ErrorBody, type ErrorCode } from '@svc/contract';
import type { FewLines } from '@svc/service';
import type { Logger } from 'pino';
import { ApiError } from './api-error.ts';
import { ClientGone } from './client-gone.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { Reply } from './handler.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Null: all of it is handed over. Otherwise it is still being made; resolves at its end. */
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
 * The message of an error as callers read it: a sentence. Messages quote what was sent; a key in the wrong place, or part
 * of one, is not sent back.
 */
export const publicMessage = (text: string): string =>
  asSentence(text).replaceAll(/\b(dk_(?:[a-z]+_)+)[0-9A-Za-z]{6,}/g, '$1…');

export const answerOfError = (error: ApiError, publicBaseUrl: string): Answer => ({
  status: error.status,
  contentType: JSON_TYPE,
  body: errorText(error.code, error.message),
  headers: { Link: helpLink(error.code, publicBaseUrl), ...error.headers },
});

/** Number of folders that relative links climb: with more, a page would be many times as long as what was asked. */
const MAX_DEPTH = 10;

/** The same for a browser, in `template` (`loadErrorPage`). Links are relative: a proxy may have put something before the path. */
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

/** The page of the guide about a code (RFC 8288): the body has room for two members alone. */
export const helpLink = (code: ErrorCode, publicBaseUrl: string): string =>
  `<${publicBaseUrl}/guide/errors/${code}>; rel="help"`;

/** The same about the reason of a DENY, whose body is the Receipt. */
export const reasonLink = (reason: string, publicBaseUrl: string): string =>
  `<${publicBaseUrl}/guide/reasons/${reason}>; rel="help"`;

/** A did:web DID with a port whose escape was taken for one of the URL. */
const DID_WITH_BARE_PORT = /^did:web:[A-Za-z0-9.-]+:[0-9]{1,5}(?:[:#]|$)/;

/** Two levels of escapes are easily one short, and what is then asked for is nobody. */
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
  /** Answers 503: while a backing service is away all requests fail alike, and each has its line in the access log. */
  readonly unavailable: FewLines;
  /** Translates errors of the inner layers. Null: it is a bug. */
  readonly toApiError: (error: unknown) => ApiError | null;
}

/** Answers a failed request. After the answer has begun there is nothing left to say but to cut the connection. */
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
  // Reset, not closed: to a client of HTTP/1.0 the end of the connection is the end of the body.
  if (exchange.response.headersSent) exchange.response.socket?.resetAndDestroy();
  else exchange.send(answerOfError(error, exchange.settings.publicBaseUrl));
};
