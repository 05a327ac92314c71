/**
 * The service over the network. Every request has deadlines and every answer a bound; redirects are refused, since the
 * answer would be another host's. A rate limit is waited for once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Source, SourceError, type Stream } from '../../monitor/source.ts';

const ANSWER_MS = 15_000;
/** Between two pieces of a stream. */
const IDLE_MS = 30_000;
const LEAST_BYTES_PER_SECOND = 100_000;
/** Windows of the service's rate limits last a minute. */
const LONGEST_WAIT_SECONDS = 65;

/** `origin` is scheme and host. */
export const createHttpSource = (origin: string, stop: AbortSignal): Source => {
  const ask = async (path: string, deadline: AbortSignal): Promise<Response> => {
    const response = await fetch(`${origin}${path}`, {
      redirect: 'manual',
      // What a cache in between remembers is not what the service says now.
      headers: { 'cache-control': 'no-cache' },
      signal: AbortSignal.any([stop, deadline]),
    });
    if (response.status >= 300 && response.status < 400) {
      await discard(response);
      throw new SourceError(`it answered with a redirect (${response.status})`);
    }
    return response;
  };

  /** `timeLeft` begins anew with each attempt. */
  const askPatiently = async (path: string, timeLeft: () => AbortSignal): Promise<Response> => {
    const response = await ask(path, timeLeft());
    if (response.status !== 429) return response;
    await discard(response);
    await pause(waitOf(response) * 1000, undefined, { signal: stop });
    return ask(path, timeLeft());
  };

  return {
    async fetchText(path, maxBytes): Promise<Answer> {
      return orSourceError(async () => {
        const response = await askPatiently(path, () => AbortSignal.timeout(ANSWER_MS));
        const pieces: Uint8Array[] = [];
        let total = 0;
        for await (const piece of bodyOf(response)) {
          total += piece.length;
          if (total > maxBytes) throw new SourceError(`it answered with more than ${maxBytes} bytes`);
          pieces.push(piece);
        }
        return { status: response.status, text: decode(Buffer.concat(pieces)) };
      });
    },

    async fetchStream(path, expectedBytes): Promise<Stream> {
      const idle = new IdleTimer();
      const wholeMs = ANSWER_MS + (expectedBytes / LEAST_BYTES_PER_SECOND) * 1000;
      const timeLeft = () => AbortSignal.any([idle.start(), AbortSignal.timeout(Math.ceil(wholeMs))]);
      try {
        const response = await askPatiently(path, timeLeft);
        if (response.status === 200) return { status: 200, pieces: piecesOf(response, idle) };
        await discard(response);
        idle.end();
        return { status: response.status, pieces: EMPTY };
      } catch (error) {
        idle.end();
        throw sourceErrorOf(error);
      }
    },
  };
};

class IdleTimer {
  #timer: NodeJS.Timeout | undefined;

  /** Aborted when nothing has come for too long. */
  start(): AbortSignal {
    clearTimeout(this.#timer);
    const idle = new AbortController();
    this.#timer = setTimeout(() => idle.abort(new DOMException('idle', 'TimeoutError')), IDLE_MS);
    return idle.signal;
  }

  hear(): void {
    this.#timer?.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

async function* piecesOf(response: Response, idle: IdleTimer): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of bodyOf(response)) {
      idle.hear();
      yield piece;
    }
  } catch (error) {
    throw sourceErrorOf(error);
  } finally {
    idle.end();
  }
}

const bodyOf = (response: Response): AsyncIterable<Uint8Array> => response.body ?? EMPTY;

const EMPTY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

const discard = async (response: Response): Promise<void> => {
  await response.body?.cancel().catch(() => {});
};

/** In seconds. */
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

/** Whatever a connection can throw. */
const sourceErrorOf = (error: unknown): SourceError => {
  if (error instanceof SourceError) return error;
  if (!(error instanceof Error)) return new SourceError('it did not answer');
  if (error.name === 'TimeoutError') return new SourceError('it did not answer in time');
  if (error.name === 'AbortError') return new SourceError('the monitor was stopped');
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  return new SourceError(`it did not answer: ${code ?? error.message}`);
};
