/**
 * A TCP proxy in front of the server that closes a connection exactly around a commit, or around another statement that
 * its markers identify.
 */
import { startTcpProxy } from './tcp-proxy.ts';

/**
 * What the proxy does:
 * - `pass`: forwards.
 * - `cut-before`: does not forward the next commit, and breaks its connection.
 * - `cut-after`: forwards the next commit, drops its answer, and breaks the connection.
 * - `cut-after-and-block`: the same, and breaks every other connection and refuses new ones.
 * - `cut-all`: as `cut-before`, for every commit from now on.
 * - `block`: refuses new connections.
 */
export type ProxyMode = 'pass' | 'cut-before' | 'cut-after' | 'cut-after-and-block' | 'cut-all' | 'block';

export interface CuttingProxy {
  readonly url: string;
  setMode(mode: ProxyMode): void;
  /** Number of commits sent, and number of commits cut. */
  readonly seen: number;
  readonly cuts: number;
  close(): Promise<void>;
}

/** A message that contains all of the `markers` belongs to the commit. */
export async function startCuttingProxy(
  serverUrl: string,
  ...markers: readonly string[]
): Promise<CuttingProxy> {
  let mode: ProxyMode = 'pass';
  let seen = 0;
  let cuts = 0;
  const proxy = await startTcpProxy(serverUrl, {
    admit: (client) => {
      if (mode === 'block') client.destroy();
    },
    handle: ({ client, server, cut }) => {
      let answersAreLost = false;
      return {
        fromClient(chunk) {
          if (!markers.every((marker) => chunk.includes(marker))) return void server.write(chunk);
          seen++;
          if (mode !== 'pass') {
            cuts++;
            if (mode === 'cut-all') return cut();
            if (mode === 'cut-before') {
              mode = 'pass';
              return cut();
            }
            answersAreLost = true;
            mode = mode === 'cut-after-and-block' ? 'block' : 'pass';
          }
          server.write(chunk);
        },
        fromServer(chunk) {
          // There is an answer, so the server has finished the commit.
          if (!answersAreLost) return void client.write(chunk);
          if (mode === 'block') proxy.cutAll();
          cut();
        },
      };
    },
  });
  return {
    url: proxy.url,
    setMode: (next) => {
      mode = next;
    },
    get seen() {
      return seen;
    },
    get cuts() {
      return cuts;
    },
    close: proxy.close,
  };
}
