/** The HTTP port of the monitor. */

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Stream {
  readonly status: number;
  /** The body as a stream; throws `SourceError` if it is cut off. To stop iterating ends the request. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

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
