/**
 * A proxy before the database that counts the statements of a process over all its connections, and kills it at one of
 * them: before it has reached the server, or when the server has done it and the answer is on its way.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { isExecution, isReady, MessageReader } from './messages.ts';

export interface Cut {
  /** From 1. */
  readonly statement: number;
  readonly when: 'before' | 'after';
}

export interface KillingProxy {
  readonly url: string;
  /** Statements that have begun. */
  statements(): number;
  close(): Promise<void>;
}

/** `kill` must end the process at once: nothing more of it is passed on. */
export const startKillingProxy = async (
  databaseUrl: string,
  cut: Cut | null,
  kill: () => void,
): Promise<KillingProxy> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let statements = 0;
  let isOver = false;
  const end = () => {
    isOver = true;
    kill();
    for (const socket of sockets) socket.destroy();
  };

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        (socket === client ? upstream : client).destroy();
      });
    }
    const [asked, answered] = [new MessageReader('client'), new MessageReader('server')];
    let endsWhenReady = false;
    client.on('data', (chunk: Buffer) => {
      for (const message of asked.read(chunk)) {
        if (isOver) return;
        if (isExecution(message)) {
          statements += 1;
          if (statements === cut?.statement && cut.when === 'before') return end();
          endsWhenReady = statements === cut?.statement;
        }
        upstream.write(message.bytes);
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      for (const message of answered.read(chunk)) {
        if (isOver) return;
        if (endsWhenReady && isReady(message)) return end();
        if (!endsWhenReady) client.write(message.bytes);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    statements: () => statements,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
