/**
 * One HTTP/1.1 exchange over one connection of its own, which is closed after it. undici's client core is used bare:
 * it follows no redirect, keeps no cookie, reads no proxy variable and decodes no content coding.
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import { type Answered, codeOf, OutboundFault, unreachable } from './answers.ts';

export interface Exchange {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly accept: string;
  readonly body: string | null;
  /** Of `body`. */
  readonly contentType: string;
  /** Null: the body is not read, and the answer is its status alone. */
  readonly maxBytes: number | null;
  /** So much of the body of a 400 is read, if it is no longer; 0: none is. */
  readonly errorBytes: number;
  /** Added to those of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** W3C Trace Context; null: none is sent. */
  readonly traceparent: string | null;
}

const MAX_HEADER_BYTES = 16_384;
const NOTHING = new Uint8Array(0);

/** Opens the connection by `dial`. Throws OutboundFault. */
export const exchange = async (
  request: Exchange,
  dial: () => Promise<Socket>,
  signal: AbortSignal,
): Promise<Answered> => {
  const connection = await dial();
  const client = clientOver(connection, request.url);
  try {
    return await ask(client, request, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundFault) throw error;
    throw new OutboundFault(unreachable('protocol', `HTTP: ${codeOf(error)}`));
  } finally {
    connection.destroy();
    client.destroy().catch(() => {});
  }
};

/** A client that can use this connection once and open no other, so that nothing is ever sent again elsewhere. */
const clientOver = (connection: Socket, url: URL): Client => {
  let unused: Socket | null = connection;
  return new Client(url.origin, {
    connect: (_options, callback) => {
      const socket = unused;
      unused = null;
      // The client does not take an answer from within its own call.
      queueMicrotask(() => {
        if (socket === null) callback(new OutboundFault(unreachable('protocol', 'HTTP: closed')), null);
        else callback(null, socket);
      });
    },
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The caller's deadline covers all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
};

const ask = async (
  client: Client,
  { url, method, accept, body, contentType, maxBytes, errorBytes, headers, traceparent }: Exchange,
  signal: AbortSignal,
): Promise<Answered> => {
  const answer = await client.request({
    path: `${url.pathname}${url.search}`,
    method,
    headers: {
      ...headers,
      accept,
      'accept-encoding': 'identity',
      'user-agent': 'svc-outbound',
      ...(body === null ? {} : { 'content-type': contentType }),
      ...(traceparent === null ? {} : { traceparent }),
    },
    body,
    signal,
    reset: true,
  });
  answer.body.on('error', () => {});
  const header = (name: string) => [answer.headers[name] ?? null].flat()[0] ?? null;
  const head = {
    kind: 'answered',
    status: answer.statusCode,
    contentType: header('content-type'),
    retryAfter: header('retry-after'),
  } as const;
  if (head.status === 400 && errorBytes > 0) {
    const isPlain = isCoding(answer.headers['content-encoding'], 'identity');
    return { ...head, body: isPlain ? await readWhole(answer.body, errorBytes) : NOTHING };
  }
  if (maxBytes === null || head.status < 200 || head.status > 299) return { ...head, body: NOTHING };
  requireCoding(answer.headers['content-encoding'], 'identity');
  requireCoding(answer.headers['transfer-encoding'], 'chunked');
  return { ...head, body: await readAtMost(answer.body, maxBytes) };
};

const requireCoding = (header: string | string[] | undefined, allowed: string): void => {
  if (!isCoding(header, allowed))
    throw new OutboundFault(unreachable('encoding', 'HTTP: a coding that was not asked for'));
};

const isCoding = (header: string | string[] | undefined, allowed: string): boolean =>
  header === undefined || (typeof header === 'string' && header.trim().toLowerCase() === allowed);

/** Nothing of one that is longer, or does not come to its end: the status is the answer. */
const readWhole = (chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> =>
  readAtMost(chunks, maxBytes).catch(() => NOTHING);

const readAtMost = async (chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) throw new OutboundFault(unreachable('too-large', `more than ${maxBytes} bytes`));
    parts.push(chunk);
  }
  return new Uint8Array(Buffer.concat(parts, length));
};
