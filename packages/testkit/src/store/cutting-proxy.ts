/** A TCP proxy before the server that loses one commit: on its way there, or its answer on the way back. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll } from 'vitest';

export type Cut = 'before' | 'after';

export interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection on which the commit of this Receipt is sent. */
  cutAt(receiptId: string, cut: Cut): void;
}

/** Runs until the end of the file's tests. */
export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let planned: { readonly receiptId: string; readonly cut: Cut } | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    let losesAnswer = false;
    client.on('data', (chunk) => {
      if (planned !== null && chunk.includes(planned.receiptId)) {
        const { cut } = planned;
        planned = null;
        if (cut === 'before') return end();
        losesAnswer = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => (losesAnswer ? end() : client.write(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, cutAt: (receiptId, cut) => (planned = { receiptId, cut }) };
}
