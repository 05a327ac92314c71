/** A TCP proxy in front of PostgreSQL that can break a connection exactly around the commit of a decision. */
import { connect, createServer, type Socket } from 'node:net';

/**
 * `pass`: forwards. `cut-before`: the next commit is not forwarded, its connection breaks. `cut-after`: the next commit
 * is forwarded, its answer is thrown away and the connection breaks. `cut-after-and-block`: the same, every other
 * connection breaks too, and nothing connects any more. `cut-all`: as `cut-before`, every commit from now on. `block`:
 * nothing connects.
 */
export type ProxyMode = 'pass' | 'cut-before' | 'cut-after' | 'cut-after-and-block' | 'cut-all' | 'block';

export interface CuttingProxy {
  readonly url: string;
  setMode(mode: ProxyMode): void;
  /** How often a commit was sent, and how often one was cut. */
  readonly seen: number;
  readonly cuts: number;
  close(): Promise<void>;
}

/** `markers` are texts that together only the commit's messages hold. */
export const startCuttingProxy = async (
  databaseUrl: string,
  ...markers: readonly string[]
): Promise<CuttingProxy> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let mode: ProxyMode = 'pass';
  let seen = 0;
  let cuts = 0;
  const server = createServer((client) => {
    if (mode === 'block') return client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    let answersAreLost = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (!markers.every((marker) => chunk.includes(marker))) return void upstream.write(chunk);
      seen++;
      if (mode !== 'pass') {
        cuts++;
        if (mode === 'cut-all') return end();
        if (mode === 'cut-before') {
          mode = 'pass';
          return end();
        }
        answersAreLost = true;
        mode = mode === 'cut-after-and-block' ? 'block' : 'pass';
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      // The answer exists, so the commit has reached the server and is over.
      if (!answersAreLost) return void client.write(chunk);
      if (mode === 'block') for (const socket of sockets) socket.destroy();
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
  return {
    url: url.href,
    setMode: (next) => {
      mode = next;
    },
    get seen() {
      return seen;
    },
    get cuts() {
      return cuts;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
