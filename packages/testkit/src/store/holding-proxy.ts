/**
 * A TCP proxy before the server that lets nobody through until it is told to: a server that is slow to accept. And one that loses
 * connections without a word, as a firewall does that forgets them.
 */
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

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
  /** Clients that are not let through, each with what lets it through. */
  const held = new Map<Socket, () => void>();
  const passing = new Set<Socket>();
  const lost = new Set<Socket>();
  let isHolding = true;
  let accepted = 0;

  const proxy = await startTcpProxy(serverUrl, {
    admit(client) {
      accepted += 1;
      if (!isHolding) return;
      client.on('close', () => held.delete(client));
      return new Promise((admit) => held.set(client, admit));
    },
    handle({ client, server }) {
      passing.add(client);
      client.on('close', () => {
        passing.delete(client);
        lost.delete(client);
      });
      return {
        fromClient: (chunk) => lost.has(client) || server.write(chunk),
        fromServer: (chunk) => lost.has(client) || client.write(chunk),
      };
    },
  });
  onTestFinished(() => proxy.close());

  return {
    url: proxy.url,
    get accepted() {
      return accepted;
    },
    get held() {
      return held.size;
    },
    admit() {
      isHolding = false;
      for (const admit of held.values()) admit();
      held.clear();
    },
    hold() {
      isHolding = true;
    },
    lose() {
      for (const client of passing) lost.add(client);
      passing.clear();
    },
    get lost() {
      return lost.size;
    },
  };
}
