/** The HTTP port of the monitor. */
import { isMarked } from '@svc/codec';

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A response that is read as it arrives. */
export interface Stream {
  readonly status: number;
  /** The body as a stream; throws `SourceError` if it is cut off. When the reader stops iterating, the request ends. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** How the monitor reads what the service publishes. Paths are relative to the service's address. */
export interface Source {
  /** Rejects with `SourceError` unless a complete answer of at most `maxBytes` of UTF-8 arrives within the deadline. */
  fetchText(path: string, maxBytes: number): Promise<Answer>;
  /**
   * Rejects with `SourceError`. The deadline may depend on `expectedBytes`, up to a bound: this is the size that the
   * service says.
   */
  fetchStream(path: string, expectedBytes: number): Promise<Stream>;
}

/**
 * `instanceof` checks this mark instead of the class, because a `Source` may use the `SourceError` of another copy of
 * the package.
 */
const MARK = Symbol.for('@svc/SourceError');

/** There was no usable answer. */
export class SourceError extends Error {
  override readonly name = 'SourceError';

  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, MARK, { value: true });
  }

  /** A class that extends `SourceError` is checked in the ordinary way. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is which class asks
    return isMarked(this, SourceError, MARK, value);
  }
}
