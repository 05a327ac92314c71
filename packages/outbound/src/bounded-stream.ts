/**
 * A TCP connection under TLS that ends itself after too many bytes. Only here can the bytes be counted that TLS
 * consumes itself: certificates, and records without data (KeyUpdate, session tickets). Each of them costs CPU time.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { OutboundFault, type UnreachableFault, unreachable } from './answers.ts';

export class BoundedStream extends Duplex {
  readonly #socket: Socket;
  #left: number;
  #fault: UnreachableFault = 'tls';

  /** `handshakeBytes`: the bytes allowed before `endHandshake` is called. More cause the fault `tls`. */
  constructor(socket: Socket, handshakeBytes: number) {
    super();
    this.#socket = socket;
    this.#left = handshakeBytes;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** `bytes`: the bytes allowed from now on. More cause the fault `too-large`. */
  endHandshake(bytes: number): void {
    this.#left = bytes;
    this.#fault = 'too-large';
  }

  #take(chunk: Buffer): void {
    this.#left -= chunk.length;
    if (this.#left < 0)
      this.destroy(new OutboundFault(unreachable(this.#fault, 'TLS: too many bytes on the wire')));
    else if (!this.push(chunk)) this.#socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
