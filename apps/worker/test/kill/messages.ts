/** Reads messages of PostgreSQL's protocol from a byte stream: a type byte, a length that includes itself, a body. */

export type Message = { readonly type: string; readonly bytes: Buffer };

const LENGTH_BYTES = 4;

/** The first message of a client has no type; its type here is empty. */
export class MessageReader {
  #rest = Buffer.alloc(0);
  #isFirst: boolean;

  constructor(side: 'client' | 'server') {
    this.#isFirst = side === 'client';
  }

  /** Every message that is complete with this chunk. */
  *read(chunk: Buffer): Generator<Message> {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const typeBytes = this.#isFirst ? 0 : 1;
      if (this.#rest.length < typeBytes + LENGTH_BYTES) return;
      const end = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < end) return;
      const bytes = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      this.#isFirst = false;
      yield { type: typeBytes === 0 ? '' : String.fromCharCode(bytes[0] ?? 0), bytes };
    }
  }
}

/** A statement is executed by a simple query or by the Execute of an extended one. */
export const isExecution = ({ type }: Message): boolean => type === 'Q' || type === 'E';

/** The server has done all that was requested, and reports this. */
export const isReady = ({ type }: Message): boolean => type === 'Z';
