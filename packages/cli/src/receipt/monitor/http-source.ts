/**
 * The service over the network. Every request has deadlines, and every answer a size limit. Redirects are refused,
 * because another host would answer. After a rate limit the source waits once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Source, SourceError, type Stream } from '@svc/transparency/monitor';

const MIN_BYTES_PER_SECOND = 100_000;
/** The windows of the service's rate limits are one minute. */
const LONGEST_WAIT_SECONDS = 65;

export interface Patience {
  /** Time for a whole answer; for a stream, the time until it begins. */
  readonly answerMs: number;
  /** Time between two pieces of a stream. */
  readonly idleMs: number;
  /**
   * Time for all streams together, since the first began. The size on which the deadline of a stream depends is what
   * the service says, and a dishonest one must not keep the monitor from comparing known days.
   */
  readonly streamsMs: number;
}

export const HOUR_MS = 3_600_000;

export const PATIENCE: Patience = { answerMs: 15_000, idleMs: 30_000, streamsMs: HOUR_MS };

const TIME_OVER = 'the time for leaves is over; a later look reads them, with --every as long as they take';

interface TimedResponse {
  readonly response: Response;
  /** Deadline of the body. The reader of the body clears it. */
  readonly deadline: Deadline;
}

/** `origin`: scheme and host. One source is for one look. */
export const createHttpSource = (origin: string, stop: AbortSignal, patience = PATIENCE): Source => {
  const { answerMs, idleMs, streamsMs } = patience;
  const streams = new AbortController();
  const ofStreams = AbortSignal.any([stop, streams.signal]);
  let isStreaming = false;
  /** The timer does not keep the process alive. */
  const beginStreams = (): void => {
    if (!isStreaming) setTimeout(() => streams.abort(new SourceError(TIME_OVER)), streamsMs).unref();
    isStreaming = true;
  };
  const ask = async (path: string, deadline: Deadline, ended: AbortSignal): Promise<TimedResponse> => {
    try {
      const response = await fetch(`${origin}${path}`, {
        redirect: 'manual',
        // The monitor needs the service's current answer, not one from a cache.
        headers: { 'cache-control': 'no-cache' },
        signal: AbortSignal.any([ended, deadline.signal]),
      });
      if (response.status < 300 || response.status >= 400) return { response, deadline };
      await discard(response);
      throw new SourceError(`it answered with a redirect (${response.status})`);
    } catch (error) {
      deadline.end();
      throw error;
    }
  };

  /** Each attempt has the full time. */
  const askPatiently = async (path: string, begin: () => Deadline, ended = stop): Promise<TimedResponse> => {
    const asked = await ask(path, begin(), ended);
    if (asked.response.status !== 429) return asked;
    asked.deadline.end();
    await discard(asked.response);
    await pause(waitOf(asked.response) * 1000, undefined, { signal: stop });
    return ask(path, begin(), ended);
  };

  return {
    fetchText: (path, maxBytes): Promise<Answer> =>
      orSourceError(async () => {
        const { response, deadline } = await askPatiently(path, () => new Deadline(answerMs));
        const pieces: Uint8Array[] = [];
        let total = 0;
        for await (const piece of piecesOf(response, deadline)) {
          total += piece.length;
          if (total > maxBytes) throw new SourceError(`it answered with more than ${maxBytes} bytes`);
          pieces.push(piece);
        }
        return { status: response.status, text: decode(Buffer.concat(pieces)) };
      }),

    fetchStream: (path, expectedBytes): Promise<Stream> =>
      orSourceError(async () => {
        beginStreams();
        const wholeMs = answerMs + Math.ceil((expectedBytes / MIN_BYTES_PER_SECOND) * 1000);
        const begin = () => new Deadline(wholeMs, idleMs);
        const { response, deadline } = await askPatiently(path, begin, ofStreams);
        if (response.status === 200) return { status: 200, pieces: piecesOf(response, deadline) };
        deadline.end();
        await discard(response);
        return { status: response.status, pieces: EMPTY };
      }),
  };
};

/**
 * Aborts if the whole answer takes too long, or if nothing arrives for too long. The timers hold a reference to the
 * controller. An `AbortSignal.timeout` to which only an `AbortSignal.any` refers is garbage-collected and never fires.
 */
class Deadline {
  readonly #controller = new AbortController();
  readonly #whole: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;

  constructor(wholeMs: number, idleMs = wholeMs) {
    const expire = () => this.#controller.abort(new DOMException('too late', 'TimeoutError'));
    this.#whole = setTimeout(expire, wholeMs);
    this.#idle = setTimeout(expire, idleMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  hear(): void {
    this.#idle.refresh();
  }

  end(): void {
    clearTimeout(this.#whole);
    clearTimeout(this.#idle);
  }
}

async function* piecesOf(response: Response, deadline: Deadline): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of bodyOf(response)) {
      deadline.hear();
      yield piece;
    }
  } catch (error) {
    throw sourceErrorOf(error);
  } finally {
    deadline.end();
  }
}

const bodyOf = (response: Response): AsyncIterable<Uint8Array> => response.body ?? EMPTY;

const EMPTY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

const discard = async (response: Response): Promise<void> => {
  await response.body?.cancel().catch(() => {});
};

/** The wait in seconds. */
const waitOf = (response: Response): number => {
  const text = response.headers.get('retry-after') ?? '';
  const seconds = /^[0-9]{1,4}$/.test(text) ? Number(text) : LONGEST_WAIT_SECONDS;
  return Math.min(seconds, LONGEST_WAIT_SECONDS);
};

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SourceError('it did not answer in UTF-8');
  }
};

const orSourceError = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw sourceErrorOf(error);
  }
};

/** Converts any error of a connection. */
const sourceErrorOf = (error: unknown): SourceError => {
  if (error instanceof SourceError) return error;
  if (!(error instanceof Error)) return new SourceError('it did not answer');
  if (error.name === 'TimeoutError') return new SourceError('it did not answer in time');
  if (error.name === 'AbortError') return new SourceError('the monitor was stopped');
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  return new SourceError(`it did not answer: ${code ?? error.message}`);
};
