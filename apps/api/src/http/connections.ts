/**
 * The open connections of a server and whether each has a request, so that a shutdown loses no request: connections
 * without a request may be closed, the others are waited for. Also limits the connections of one address.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Tally } from '@svc/service';
import { limiterKeyOf, socketAddressOf } from './client-ip.ts';

interface Connection {
  /** Answers that have not been closed. With pipelining, all but the first wait for the connection. */
  readonly open: Set<ServerResponse>;
  last: { readonly request: IncomingMessage; readonly response: ServerResponse } | null;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #perAddress = new Tally();

  /** `maxPerAddress`: further connections from one address are closed at once; null: no such limit. */
  constructor(server: Server, maxPerAddress: number | null, onRefused: () => void) {
    server.on('connection', (socket) => {
      const address = limiterKeyOf(socketAddressOf(socket));
      if (maxPerAddress !== null && this.#perAddress.of(address) >= maxPerAddress) {
        onRefused();
        return socket.destroy();
      }
      this.#perAddress.add(address, 1);
      this.#open.set(socket, { open: new Set(), last: null });
      return socket.once('close', () => this.#forget(socket, address));
    });
  }

  #forget(socket: Socket, address: string): void {
    const { open } = this.#open.get(socket) ?? { open: [] };
    this.#open.delete(socket);
    this.#perAddress.add(address, -1);
    for (const response of open) if (response.socket === null) closeUnsent(response);
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return;
    connection.open.add(response);
    connection.last = { request, response };
  }

  end(request: IncomingMessage, response: ServerResponse): void {
    this.#open.get(request.socket)?.open.delete(response);
  }

  /**
   * Whether a 400 may be written on the connection: not while an answer is half sent, nor after an answer whose request
   * is still being received.
   */
  canRefuse(socket: Socket): boolean {
    const last = this.#open.get(socket)?.last ?? null;
    if (!socket.writable) return false;
    if (last === null || !last.response.headersSent) return true;
    return last.response.writableFinished && last.request.complete;
  }

  closeIdle(): void {
    for (const [socket, { open }] of this.#open) if (open.size === 0) socket.destroy();
  }

  /** Cuts the remaining connections and returns their number. */
  closeAll(): number {
    const count = this.#open.size;
    for (const socket of this.#open.keys()) socket.destroy();
    return count;
  }
}

/** Node closes only the answer that has the connection when this ends, and no answer that waits behind it. */
const closeUnsent = (response: ServerResponse): void => {
  response.destroy();
  response.emit('close');
};
