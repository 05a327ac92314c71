/** Where published checkpoints are read: the service over the network, or a test. */

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Stream {
  readonly status: number;
  /** The body as it arrives; throws `SourceError` when it breaks off. Whoever stops reading ends the request. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface Source {
  /** Rejects with `SourceError` where there is no whole answer of at most `maxBytes` of UTF-8 within its deadline. */
  fetchText(path: string, maxBytes: number): Promise<Answer>;
  /** A body of about `expectedBytes`, which bound the time it may take. Rejects with `SourceError`. */
  fetchStream(path: string, expectedBytes: number): Promise<Stream>;
}

/** There was no answer that could be judged. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}
