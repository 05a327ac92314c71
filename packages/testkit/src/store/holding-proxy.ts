/**
 * A TCP proxy before the server that lets nobody through until it is told to: a server that is slow to accept. And one that loses
 * connections without a word, as a firewall does that forgets them.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HoldingProxy {
  readonly url: string;
  /** How many connections were accepted, and how many of them stand here, not let through. */
  readonly accepted: number;
  readonly held: number;
  /** Lets through all that stand here, and from now on everybody at once. */
  admit(): void;
  /** Lets nobody new through from now on. */
  hold(): void;
  /** Nothing passes any more on what is let through by now, and neither side is told. */
  lose(): void;
  /** How many connections were lost and have not been closed by the client. */
  readonly lost: number;
}

/** Runs until the end of the test. */
export async function startHoldingProxy(serverUrl: string): Promise<HoldingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  /** With what each has said so far. */
  const held = new Map<Socket, Buffer[]>();
  /** Let through: the side of the client, and that of the server. */
  const passing = new Map<Socket, Socket>();
  const lost = new Set<Socket>();
  let isHolding = true;
  let accepted = 0;

  const letThrough = (client: Socket, said: readonly Buffer[]) => {
    const upstream = connect(Number(target.port), target.hostname);
    sockets.add(upstream);
    passing.set(client, upstream);
    upstream.on('error', () => {}).on('close', () => client.destroy());
    client
      .on('close', () => {
        passing.delete(client);
        lost.delete(client);
        upstream.destroy();
      })
      .removeAllListeners('data');
    for (const chunk of said) upstream.write(chunk);
    client.pipe(upstream).pipe(client);
  };
  const server = createServer((client) => {
    accepted += 1;
    sockets.add(client);
    client.on('error', () => {}).on('close', () => held.delete(client));
    if (!isHolding) return letThrough(client, []);
    const said: Buffer[] = [];
    held.set(client, said);
    // A socket that is not read does not hear that the other side has gone.
    client.on('data', (chunk) => said.push(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get accepted() {
      return accepted;
    },
    get held() {
      return held.size;
    },
    admit() {
      isHolding = false;
      for (const [client, said] of held) letThrough(client, said);
      held.clear();
    },
    hold() {
      isHolding = true;
    },
    lose() {
      for (const [client, upstream] of passing) {
        client.unpipe(upstream);
        upstream.unpipe(client);
        // Read on, so that the end of the client is noticed.
        client.resume();
        lost.add(client);
      }
      passing.clear();
    },
    get lost() {
      return lost.size;
    },
  };
}
