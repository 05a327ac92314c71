/**
 * An endpoint on bare sockets that can do anything. Each mode handles one request. A mode may answer
 * `describe` correctly, so that the run reaches the cases.
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { VectorSet } from '@svc/conformance';
import { DESCRIPTION, perfectAnswer } from './perfect-endpoint.ts';

export interface Hostile {
  readonly url: string;
  /** Bytes sent on all connections. */
  readonly bytesSent: () => number;
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Handles a request. `right` is the text of the right answer to it. */
export type Mode = (socket: Socket, right: string) => void;

export const startHostile = async (
  vectors: VectorSet,
  mode: Mode,
  { isHonestFirst }: { readonly isHonestFirst: boolean },
): Promise<Hostile> => {
  const sockets = new Set<Socket>();
  let sent = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sent += socket.bytesWritten;
    });
    onRequest(socket, (requestText) => {
      const right = perfectAnswer(vectors, requestText, undefined, DESCRIPTION);
      if (isHonestFirst && requestText.includes('"op":"describe"')) ok(socket, right);
      else mode(socket, right);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bytesSent: () => sent,
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
};

/** Calls back once with the body of the first request. */
const onRequest = (socket: Socket, handle: (body: string) => void): void => {
  let received = Buffer.alloc(0);
  let isHandled = false;
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (isHandled || end < 0) return;
    const [, length = '0'] = /content-length: ([0-9]+)/i.exec(received.subarray(0, end).toString()) ?? [];
    const body = received.subarray(end + 4);
    if (body.length < Number(length)) return;
    isHandled = true;
    handle(body.toString());
  });
};

const CRLF = '\r\n';

export const head = (status: string, headers: Readonly<Record<string, string | number>>): string =>
  [`HTTP/1.1 ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', ''].join(
    CRLF,
  );

/** A complete answer. */
export const ok = (
  socket: Socket,
  body: string | Buffer,
  headers: Readonly<Record<string, string | number>> = {},
): void => {
  socket.write(head('200 OK', { 'content-length': Buffer.byteLength(body), ...headers }));
  socket.end(body);
};

/** Writes as fast as the other side reads, until the connection closes. */
export const forever = (socket: Socket, piece: string | Buffer): void => {
  const pour = (): void => {
    while (!socket.destroyed) if (!socket.write(piece)) break;
  };
  socket.on('drain', pour);
  pour();
};

/** Writes one character after the other, a few milliseconds apart, until the connection closes. */
export const drip = (socket: Socket, text: string): void => {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ' '), 5);
  socket.on('close', () => clearInterval(timer));
};

/** 64 MiB of white space, compressed to a few kilobytes. */
export const bomb = (): Buffer => gzipSync(Buffer.alloc(67_108_864, 0x20));
