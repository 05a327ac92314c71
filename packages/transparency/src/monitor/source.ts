/** The HTTP port of the monitor. */

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** An answer that is read as it comes. */
export interface Stream {
  readonly status: number;
  /** The body as a stream; throws `SourceError` if it is cut off. To stop iterating ends the request. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** How the monitor reads what the service publishes. Paths are below the service's address. */
export interface Source {
  /** Rejects with `SourceError` unless a complete answer of at most `maxBytes` of UTF-8 arrives within the deadline. */
  fetchText(path: string, maxBytes: number): Promise<Answer>;
  /** `expectedBytes` determines the deadline. Rejects with `SourceError`. */
  fetchStream(path: string, expectedBytes: number): Promise<Stream>;
}

/** There was no usable answer. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}
