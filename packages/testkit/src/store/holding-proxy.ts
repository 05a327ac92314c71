/**
 * A TCP proxy in front of the server that holds connections until it is told to admit them, as a server that is slow to
 * accept. It can also lose connections silently, as a firewall that drops their state.
 */
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

export interface HoldingProxy {
  readonly url: string;
  /** Number of connections accepted, and number of those that are held. */
  readonly accepted: number;
  readonly held: number;
  /** Admits all held connections, and from now on every new one at once. */
  admit(): void;
  /** Holds every new connection from now on. */
  hold(): void;
  /** Drops all data on the connections admitted so far, without notifying either side. */
  lose(): void;
  /** Number of lost connections that the client has not closed. */
  readonly lost: number;
}

/** Runs until the end of the test. */
export async function startHoldingProxy(serverUrl: string): Promise<HoldingProxy> {
  /** Clients that are held, each with the function that admits it. */
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
