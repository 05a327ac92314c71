/** Replies and errors as answers. One place decides what a caller is told of a failure. */
import type { ErrorBody, ErrorCode } from '@svc/contract';
import type { Logger } from 'pino';
import { ApiError } from './api-error.ts';
import { ClientGone } from './client-gone.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { Reply } from './handler.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export const answerOf = (reply: Reply): Answer => ({
  status: reply.status,
  contentType: reply.contentType ?? JSON_TYPE,
  body: reply.rawBody ?? JSON.stringify(reply.body),
  ...(reply.headers && { headers: reply.headers }),
});

export const errorText = (error: ErrorCode, message: string): string =>
  JSON.stringify({ error, message: withoutKeys(message) } satisfies ErrorBody);

/** Messages quote what was sent. A key in the wrong place, or part of one, is not sent back. */
const withoutKeys = (message: string): string =>
  message.replaceAll(/\b(dk_(?:[a-z]+_)+)[0-9A-Za-z]{6,}/g, '$1…');

export const answerOfError = (error: ApiError): Answer => ({
  status: error.status,
  contentType: JSON_TYPE,
  body: errorText(error.code, error.message),
  headers: error.headers,
});

export interface FailurePort {
  readonly logger: Logger;
  /** Translates errors of the inner layers. Null: it is a bug. */
  readonly toApiError: (error: unknown) => ApiError | null;
}

/** Answers a failed request. After the answer has begun there is nothing left to say but to cut the connection. */
export const sendFailure = (
  exchange: Exchange,
  thrown: unknown,
  { logger, toApiError }: FailurePort,
): void => {
  if (thrown instanceof ClientGone) return;
  const known = thrown instanceof ApiError ? thrown : toApiError(thrown);
  const error =
    known ??
    new ApiError('INTERNAL', `The service failed. Report it with the request id ${exchange.requestId}`);
  const context = { requestId: exchange.requestId, route: exchange.routeId };
  if (known === null) logger.error({ ...context, err: thrown }, 'request failed');
  else if (known.status >= 500)
    logger[known.code === 'INTERNAL' ? 'error' : 'warn'](
      { ...context, detail: known.detail, err: known.cause },
      known.message,
    );
  if (exchange.response.headersSent) exchange.response.destroy();
  else exchange.send(answerOfError(error));
};
