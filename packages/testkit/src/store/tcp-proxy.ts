/** A TCP proxy in front of a server. Without hooks it forwards everything, in both directions. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ProxiedConnection {
  /** The sockets to the client and to the server. When one closes, so does the other. */
  readonly client: Socket;
  readonly server: Socket;
  /** Closes both. */
  cut(): void;
}

/** Called with a chunk in place of writing it to the other side. */
export interface ChunkHandlers {
  fromClient?(chunk: Buffer): void;
  fromServer?(chunk: Buffer): void;
}

export interface ProxyHooks {
  /**
   * Called for each new client. The proxy connects to the server when this resolves, unless the client has closed by
   * then.
   */
  admit?(client: Socket): Promise<void> | void;
  /** Called when the connection to the server begins. */
  handle?(connection: ProxiedConnection): ChunkHandlers;
}

export interface TcpProxy {
  /** URL of the server, with the proxy's address. */
  readonly url: string;
  /** Closes all connections; still accepts new ones. */
  cutAll(): void;
  /** Closes all connections and accepts no more. */
  close(): Promise<void>;
}

export async function startTcpProxy(serverUrl: string, hooks: ProxyHooks = {}): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const register = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  // Without delay: a message that is forwarded in parts would wait for the acknowledgement of each, 40 ms.
  const listener = createServer({ noDelay: true }, async (client) => {
    register(client);
    // The proxy also reads from a client before it is admitted: otherwise it would not notice that the client closes.
    const early: Buffer[] = [];
    let take = (chunk: Buffer): unknown => early.push(chunk);
    client.on('data', (chunk) => take(chunk));
    await hooks.admit?.(client);
    if (client.destroyed) return;

    const server = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    register(server);
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    client.on('close', cut);
    server.on('close', cut);
    const {
      fromClient = (chunk: Buffer) => void server.write(chunk),
      fromServer = (chunk: Buffer) => void client.write(chunk),
    } = hooks.handle?.({ client, server, cut }) ?? {};
    server.on('data', fromServer);
    take = fromClient;
    for (const chunk of early) fromClient(chunk);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const { port } = listener.address() as AddressInfo;
  return {
    url: Object.assign(new URL(serverUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    cutAll,
    async close() {
      cutAll();
      listener.close();
      await once(listener, 'close');
    },
  };
}
