/**
 * One HTTP/1.1 exchange over its own connection, which is closed afterwards. It uses undici's client core directly:
 * that follows no redirect, keeps no cookie, reads no proxy variable and decodes no content coding.
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Client } from 'undici';
import { type Answered, codeOf, OutboundFault, unreachable } from './answers.ts';

export interface Exchange {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly accept: string;
  readonly body: string | null;
  /** Media type of `body`. */
  readonly contentType: string;
  /** Null: the body is not read, and the answer has only its status. */
  readonly maxBytes: number | null;
  /** Largest body of a 400 that is read, in bytes; 0: none is read. */
  readonly errorBytes: number;
  /** Added to the headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** W3C Trace Context; null: none is sent. */
  readonly traceparent: string | null;
}

const MAX_HEADER_BYTES = 16_384;
/** Interim 1xx answers: `100 Continue`, `103 Early Hints`. Each has its own headers. */
const MAX_INFORMATIONAL = 8;
/** The number of pieces of a body, besides one for each 64 bytes that may be read; each costs microseconds. */
const PIECES = 1024;
const NOTHING = new Uint8Array(0);

/** Opens the connection with `dial`, which gets the limit of received bytes. Throws OutboundFault. */
export const exchange = async (
  request: Exchange,
  dial: (mostBytes: number) => Promise<Socket>,
  signal: AbortSignal,
): Promise<Answered> => {
  const connection = await dial(mostBytes(request) + 2 * READ_AT_ONCE);
  // The client handles errors only while it has the connection. An earlier or later one must not end the process.
  connection.on('error', () => {});
  boundBytes(connection, request);
  const client = clientOver(connection, request.url);
  const refuse = (what: string) =>
    connection.destroy(new OutboundFault(unreachable('protocol', `HTTP: ${what}`)));
  try {
    return await ask(client, request, refuse, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundFault) throw error;
    throw new OutboundFault(unreachable('protocol', `HTTP: ${codeOf(error)}`));
  } finally {
    connection.destroy();
    client.destroy().catch(() => {});
  }
};

/**
 * Ends the connection after more bytes than any answer needs. The body has its own limit. This limit is for what
 * surrounds it, such as chunk extensions, which without end would take all the CPU time of this process.
 */
const boundBytes = (connection: Socket, request: Exchange): void => {
  const most = mostBytes(request);
  connection.prependListener('readable', () => {
    if (connection.bytesRead > most + READ_AT_ONCE)
      connection.destroy(new OutboundFault(unreachable('too-large', `more than ${most} bytes on the wire`)));
  });
};

const mostBytes = ({ maxBytes, errorBytes }: Exchange): number =>
  2 * MAX_HEADER_BYTES + 2 * Math.max(maxBytes ?? 0, errorBytes);

/** The bytes that may already be buffered when reading stops. */
const READ_AT_ONCE = 65_536;

/** A client that uses this connection once and opens no other, so that nothing is ever sent again elsewhere. */
const clientOver = (connection: Socket, url: URL): Client => {
  let unused: Socket | null = connection;
  return new Client(url.origin, {
    connect: (_options, callback) => {
      const socket = unused;
      unused = null;
      // The client does not accept a callback within its own call.
      queueMicrotask(() => {
        if (socket === null) callback(new OutboundFault(unreachable('protocol', 'HTTP: closed')), null);
        else callback(null, socket);
      });
    },
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The caller's deadline covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
};

const ask = async (
  client: Client,
  request: Exchange,
  refuse: (what: string) => void,
  signal: AbortSignal,
): Promise<Answered> => {
  const { url, method, accept, body, contentType, maxBytes, errorBytes, headers, traceparent } = request;
  let informational = 0;
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
    // The client fails an assertion, outside of any promise, if a connection is destroyed while its body is paused.
    highWaterMark: mostBytes(request) + READ_AT_ONCE + 1,
    onInfo: () => {
      informational += 1;
      if (informational > MAX_INFORMATIONAL) refuse(`more than ${MAX_INFORMATIONAL} answers of 1xx`);
    },
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

/** Returns nothing if the body is longer or incomplete: the status alone is then the answer. */
const readWhole = (body: Readable, maxBytes: number): Promise<Uint8Array> =>
  readAtMost(body, maxBytes).catch(() => NOTHING);

const readAtMost = (body: Readable, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const maxPieces = PIECES + maxBytes / 64;
    const pieces: Uint8Array[] = [];
    let length = 0;
    const refuse = (what: string) => {
      reject(new OutboundFault(unreachable('too-large', `more than ${what}`)));
      body.destroy();
    };
    // An iterator would join the pieces and hide their number.
    body.on('data', (piece: Uint8Array) => {
      length += piece.length;
      pieces.push(piece);
      if (length > maxBytes) refuse(`${maxBytes} bytes`);
      else if (pieces.length > maxPieces) refuse(`${Math.floor(maxPieces)} chunks`);
    });
    body.on('end', () => resolve(new Uint8Array(Buffer.concat(pieces, length))));
    body.on('error', reject);
    body.on('close', () => reject(new OutboundFault(unreachable('protocol', 'HTTP: closed'))));
  });
