/**
 * A proxy in front of the database. It counts the statements of a process over all its connections, and kills the
 * process at one of them: before the statement has reached the server, or after the server has executed it and before
 * the answer arrives.
 */
import { startTcpProxy } from '@svc/testkit/store/tcp-proxy';
import { isExecution, isReady, MessageReader } from './messages.ts';

export interface Cut {
  /** Counted from 1. */
  readonly statement: number;
  readonly when: 'before' | 'after';
}

export interface KillingProxy {
  readonly url: string;
  /** Number of statements that have begun. */
  statements(): number;
  close(): Promise<void>;
}

/** `kill` must end the process at once; the proxy forwards no more of its data. */
export const startKillingProxy = async (
  databaseUrl: string,
  cut: Cut | null,
  kill: () => void,
): Promise<KillingProxy> => {
  let statements = 0;
  let isOver = false;
  const end = () => {
    isOver = true;
    kill();
    proxy.cutAll();
  };

  const proxy = await startTcpProxy(databaseUrl, {
    handle({ client, server }) {
      const [asked, answered] = [new MessageReader('client'), new MessageReader('server')];
      let endsWhenReady = false;
      return {
        fromClient(chunk) {
          for (const message of asked.read(chunk)) {
            if (isOver) return;
            if (isExecution(message)) {
              statements += 1;
              if (statements === cut?.statement && cut.when === 'before') return end();
              endsWhenReady = statements === cut?.statement;
            }
            server.write(message.bytes);
          }
        },
        fromServer(chunk) {
          for (const message of answered.read(chunk)) {
            if (isOver) return;
            if (endsWhenReady && isReady(message)) return end();
            if (!endsWhenReady) client.write(message.bytes);
          }
        },
      };
    },
  });
  return { url: proxy.url, statements: () => statements, close: proxy.close };
};
