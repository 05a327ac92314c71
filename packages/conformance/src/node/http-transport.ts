/**
 * The transport of the command line, on node:http, for any host, including local ones. Each request has its own
 * connection. It does not follow redirects or decompress, and stops reading at the limits, so a hostile endpoint costs
 * at most one deadline and `maxBytes`.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Transport, TransportAnswer } from '../transport.ts';

const MAX_HEADER_BYTES = 16_384;

/**
 * A transport over HTTP and HTTPS with Node's own client: one connection for each request, no redirects, no decoding.
 */
export const createHttpTransport = (): Transport => ({
  post: (url, jsonText, { maxBytes, timeoutMs }) =>
    new Promise((resolve) => {
      const request = open(url, Buffer.byteLength(jsonText));
      const settle = (answer: TransportAnswer): void => {
        clearTimeout(timer);
        resolve(answer);
        request.destroy();
      };
      const fail = (fault: string, why: string): void => settle({ kind: 'unreachable', fault, why });
      const timer = setTimeout(
        () => fail('deadline', `no complete answer within ${timeoutMs} ms`),
        timeoutMs,
      );
      request.on('error', (error) => fail('protocol', `no complete answer: ${codeOf(error)}`));
      request.on('close', () => fail('protocol', 'no complete answer: the connection was closed'));
      request.on('response', (response) => readAnswer(response, maxBytes, settle));
      request.end(jsonText);
    }),
});

const open = (url: string, bodyBytes: number): ClientRequest => {
  const send = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest;
  return send(url, {
    method: 'POST',
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': bodyBytes,
      'user-agent': 'svc-conformance',
    },
  });
};

type Settle = (answer: TransportAnswer) => void;

/** Resolves once; later events have no effect. */
const readAnswer = (response: IncomingMessage, maxBytes: number, settle: Settle): void => {
  const status = response.statusCode ?? 0;
  const { 'content-encoding': coding, 'transfer-encoding': transfer } = response.headers;
  if (status !== 200) settle({ kind: 'answered', status, body: new Uint8Array(0) });
  else if (!isPlain(coding, 'identity') || !isPlain(transfer, 'chunked'))
    settle({ kind: 'unreachable', fault: 'encoding', why: NOT_PLAIN });
  else readBody(response, maxBytes, settle);
};

const readBody = (response: IncomingMessage, maxBytes: number, settle: Settle): void => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const fail = (fault: string, why: string): void => settle({ kind: 'unreachable', fault, why });
  response.on('data', (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > maxBytes) fail('too-large', `the answer has more than ${maxBytes} bytes`);
    else chunks.push(chunk);
  });
  response.on('error', (error) => fail('protocol', `no complete answer: ${codeOf(error)}`));
  response.on('end', () => settle({ kind: 'answered', status: 200, body: Buffer.concat(chunks, length) }));
};

const NOT_PLAIN = 'the answer has a content coding, which was not asked for';

const isPlain = (header: string | undefined, allowed: string): boolean =>
  header === undefined || header.trim().toLowerCase() === allowed;

/** The code of a system, TLS or HTTP error, or the name of its class; never text from the endpoint. */
const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name;
