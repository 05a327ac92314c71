/** A response body of any length, read as it arrives. */
import { startDeadline } from './deadline.ts';
import { SvcError } from './errors.ts';

/** A 200 answer whose body has begun. */
export interface TextStream {
  requestId: string | null;
  header(name: string): string | null;
  /**
   * The text in pieces, each requested as it is consumed. Throws SvcError where the stream breaks off: the text is then
   * incomplete. A consumer that stops early ends the connection.
   */
  chunks: AsyncGenerator<string, void, undefined>;
  /** Ends the connection, even if nothing of `chunks` was consumed: a generator that has not begun cannot end it. */
  end(): void;
}

export interface StreamLimits {
  /** The time for each wait for more data; the consumer's own time does not count. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** The error of a failed connection. */
  networkError: (cause: unknown) => SvcError;
}

export function toTextStream(response: Response, limits: StreamLimits): TextStream {
  const reader = response.body?.getReader();
  return {
    requestId: response.headers.get('svc-request-id'),
    header: (name) => response.headers.get(name),
    chunks: readChunks(reader, limits),
    end: () => void reader?.cancel().catch(() => undefined),
  };
}

async function* readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  limits: StreamLimits,
): AsyncGenerator<string, void, undefined> {
  if (reader === undefined) return;
  const decode = startDecoding();
  try {
    for (let isOver = false; !isOver; ) {
      const { done, value } = await readNext(reader, limits);
      isOver = done;
      const text = decode(value);
      if (text !== '') yield text;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function readNext(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { timeoutMs, signal, networkError }: StreamLimits,
) {
  const deadline = startDeadline(timeoutMs, signal);
  try {
    return await deadline.within(reader.read());
  } catch (cause) {
    if (deadline.ended === 'timeout') throw new SvcError('timeout', 'nothing more came in time', { cause });
    if (deadline.ended === 'aborted') throw new SvcError('aborted', 'aborted by the caller', { cause });
    throw networkError(cause);
  } finally {
    deadline.clear();
  }
}

/** Returns the text of each piece. Called without a piece, checks that nothing is missing at the end. */
function startDecoding(): (bytes: Uint8Array | undefined) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new SvcError('bad-response', "the service's answer is not of the interface: not UTF-8", {
        cause,
      });
    }
  };
}

/**
 * The lines of a text in which each ends with a line feed. @throws SvcError `bad-response` if a line exceeds `maxChars`
 */
export async function* linesOf(
  chunks: AsyncIterable<string>,
  maxChars: number,
): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxChars) throw new SvcError('bad-response', 'a line of the answer is too long');
  }
  if (rest !== '') throw new SvcError('bad-response', 'the last line of the answer does not end');
}
