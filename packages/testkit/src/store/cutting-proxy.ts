/** A TCP proxy before the server that closes a connection exactly around a commit, or another statement that its markers tell. */
import { startTcpProxy } from './tcp-proxy.ts';

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
          // The answer exists, so the commit has reached the server and is over.
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
