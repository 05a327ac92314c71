/** Hosts on loopback that stand for the public internet: honest HTTPS, raw TLS that answers any bytes, plain HTTP. */
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import tls, { type TLSSocket, type TlsOptions } from 'node:tls';
import type { Endpoint } from '@svc/outbound';
import type { Leaf } from './certificates.ts';

export interface TestHost {
  readonly endpoint: Endpoint;
  /** TCP connections accepted so far. */
  readonly accepted: () => number;
  close(): Promise<void>;
}

export const listen = async (server: Server, address = '127.0.0.1'): Promise<TestHost> => {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, address, resolve);
  });
  return {
    endpoint: { address, port: (server.address() as AddressInfo).port },
    accepted: () => accepted,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

/** `settings`: the TLS that the host requires. */
export const startHttpsHost = (
  leaf: Leaf,
  handler: RequestListener,
  settings: TlsOptions = {},
): Promise<TestHost> => listen(https.createServer({ ...leaf, ...settings }, handler));

export const startHttpHost = (handler: RequestListener, address?: string): Promise<TestHost> =>
  listen(http.createServer(handler), address);

/** Speaks TLS, then lets `talk` write anything once the request's head has arrived. */
export const startRawTlsHost = (
  leaf: Leaf,
  talk: (socket: TLSSocket) => void,
  settings: TlsOptions = {},
): Promise<TestHost> =>
  listen(
    tls.createServer({ ...leaf, ...settings }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => talk(socket));
    }),
  );

/** Accepts TCP and lets `talk` do the rest. */
export const startTcpHost = (talk: (socket: Socket) => void, address?: string): Promise<TestHost> =>
  listen(net.createServer(talk), address);

/** A loopback port on which nothing listens. */
export const closedEndpoint = async (): Promise<Endpoint> => {
  const host = await startTcpHost(() => {});
  await host.close();
  return host.endpoint;
};
