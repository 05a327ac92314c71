/**
 * A TCP connection as TLS sees it, that ends itself once it has brought too much. What TLS keeps to itself is counted
 * here and nowhere else: certificates, and records that carry no data (KeyUpdate, session tickets), each of which costs
 * time.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { OutboundFault, type UnreachableFault, unreachable } from './answers.ts';

export class BoundedStream extends Duplex {
  readonly #socket: Socket;
  #left: number;
  #fault: UnreachableFault = 'tls';

  /** `handshakeBytes`: how many may come before `endHandshake` is called. Beyond them the fault is `tls`. */
  constructor(socket: Socket, handshakeBytes: number) {
    super();
    this.#socket = socket;
    this.#left = handshakeBytes;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** `bytes`: how many may come from now on. Beyond them the fault is `too-large`. */
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
