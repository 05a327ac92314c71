/**
 * Errors of a connection that Node reports before there is a request: bytes that are not HTTP, headers too large, a
 * time-out. They are answered with an Error body and a request id too, and then the connection is closed.
 */
import type { Socket } from 'node:net';
import type { ExchangeSettings } from './exchange.ts';
import { requestIdFor } from './request-id.ts';
import { errorText, helpLink, JSON_TYPE } from './respond.ts';

const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** Answers 400 on a socket on which no answer has begun. Returns the request id. */
export const refuseConnection = (
  socket: Socket,
  code: string | undefined,
  { securityHeaders, publicBaseUrl }: Pick<ExchangeSettings, 'securityHeaders' | 'publicBaseUrl'>,
): string => {
  const { id } = requestIdFor(undefined);
  const body = errorText(
    'INVALID_REQUEST',
    MESSAGES[code ?? ''] ?? 'The request is not well-formed HTTP/1.1',
  );
  const headers = [
    ...securityHeaders,
    ...['Link', helpLink('INVALID_REQUEST', publicBaseUrl)],
    ...['Svc-Request-Id', id, 'Cache-Control', 'no-store', 'Content-Type', JSON_TYPE],
    ...['Content-Length', String(Buffer.byteLength(body)), 'Connection', 'close'],
  ];
  let head = 'HTTP/1.1 400 Bad Request\r\n';
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  socket.end(`${head}\r\n${body}`);
  return id;
};
