/**
 * The open connections of a server and what each is doing, so that a shutdown loses no request: connections without
 * one may be closed, those with one are waited for.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  requestsInFlight: number;
  last: { readonly request: IncomingMessage; readonly response: ServerResponse } | null;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#open.set(socket, { requestsInFlight: 0, last: null });
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return;
    connection.requestsInFlight += 1;
    connection.last = { request, response };
  }

  end(request: IncomingMessage): void {
    const connection = this.#open.get(request.socket);
    if (connection !== undefined) connection.requestsInFlight -= 1;
  }

  /**
   * Whether a 400 may be written on the connection: not while an answer is half sent, nor after an answer whose
   * request is still being received.
   */
  canRefuse(socket: Socket): boolean {
    const last = this.#open.get(socket)?.last ?? null;
    if (!socket.writable) return false;
    if (last === null || !last.response.headersSent) return true;
    return last.response.writableFinished && last.request.complete;
  }

  closeIdle(): void {
    for (const [socket, { requestsInFlight }] of this.#open) if (requestsInFlight === 0) socket.destroy();
  }

  /** Cuts what is left; returns how many there were. */
  closeAll(): number {
    const count = this.#open.size;
    for (const socket of this.#open.keys()) socket.destroy();
    return count;
  }
}
