/**
 * One HTTP/1.1 exchange over one connection of its own, which is closed after it. undici's client core is used bare:
 * it follows no redirect, keeps no cookie, reads no proxy variable and decodes no content coding.
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
  /** Null: the body is not read, and the answer is its status alone. */
  readonly maxBytes: number | null;
  /** How many bytes of a 400's body are read, if it is no longer; 0: none. */
  readonly errorBytes: number;
  /** Added to those of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** W3C Trace Context; null: none is sent. */
  readonly traceparent: string | null;
}

const MAX_HEADER_BYTES = 16_384;
/** Answers of 1xx before the answer: `100 Continue`, `103 Early Hints`. Each has headers of its own. */
const MAX_INFORMATIONAL = 8;
/** How many pieces a body may come in, beside one for each 64 bytes that may be read of it: each costs microseconds. */
const PIECES = 1024;
const NOTHING = new Uint8Array(0);

/** Opens the connection by `dial`, which is told how many bytes it may bring on the wire. Throws OutboundFault. */
export const exchange = async (
  request: Exchange,
  dial: (mostBytes: number) => Promise<Socket>,
  signal: AbortSignal,
): Promise<Answered> => {
  const connection = await dial(mostBytes(request) + 2 * READ_AT_ONCE);
  // The client hears of its errors while it has the connection; one from before or after that must not end the process.
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
 * Ends the connection once it has brought more than any answer needs. What is read of a body is bounded elsewhere; this
 * is for what comes around it, as the extensions of a chunk, which without end would take all the time of this process.
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

/** What may be there already when an answer is read no further. */
const READ_AT_ONCE = 65_536;

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
    // The client fails an assertion, outside of any promise, when a connection is destroyed while a body has it pause.
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

/** Nothing of one that is longer, or does not come to its end: the status is the answer. */
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
    // An iterator would join the pieces, and so hide how many there are.
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
