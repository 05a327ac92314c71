/**
 * HTTP calls to the service (interface §Authentication, §Errors; protocol §13). Unless a call says otherwise, it can be
 * repeated without harm: a read, a reservation that is then not used, a revocation, a verify with an `Idempotency-Key`.
 * The transport therefore repeats a call after a lost connection, 429, 503, or a gateway's answer in place of the
 * service's (any 5xx except 503 and `INTERNAL`). All attempts share one deadline and respect `Retry-After`. The
 * transport follows no redirect: the key goes to the configured address and nowhere else.
 */
import type { JsonValue } from '@svc/codec';
import {
  type Answer,
  badResponse,
  type Failure,
  MAX_RESPONSE_BYTES,
  readAnswer,
  readText,
} from './answer.ts';
import { anObjectWith, checkValue } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { timeoutRule } from './connection.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { SvcError } from './errors.ts';
import { type TextStream, toTextStream } from './text-stream.ts';
import { callAsWhole, callEnded, outcomeUnknown, type WholeCall } from './whole-call.ts';

export interface TransportOptions {
  /** `https://…`; plain http only for a loopback host, or with `allowHttp`. */
  baseUrl: string;
  /** If absent, read from the environment variable `apiKeyVariable` at the first call. */
  apiKey?: string | undefined;
  apiKeyVariable: string;
  fetch?: typeof fetch | undefined;
  /** Time for the whole call, retries included. */
  timeoutMs: number;
  /** Unless given, as many as the deadline allows. */
  maxAttempts?: number | undefined;
  allowHttp?: boolean | undefined;
  now?: (() => number) | undefined;
  /** 0 ≤ value < 1, for spreading retries in time. */
  random?: (() => number) | undefined;
  sleep?: ((ms: number) => Promise<void>) | undefined;
}

export interface Call {
  method: 'GET' | 'POST';
  /** Begins with `/`; its variable parts are already percent-encoded. */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: JsonValue;
  headers?: Readonly<Record<string, string>>;
  /** Whether the call changes anything. If so, a lost answer leaves the outcome unknown. */
  hasEffect: boolean;
  /** A second call would have its effect twice: it is repeated only where the first certainly had none. */
  isOnceOnly?: boolean;
  /** A 202 is an answer too: the result is not available yet. */
  mayBePending?: boolean;
  /**
   * The answer contains DID documents, whose authors may use any numbers. A document that strict JSON refuses reads as
   * null.
   */
  hasDocuments?: boolean;
  /** 1 MiB unless given. */
  maxResponseBytes?: number;
  isPublic?: boolean;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export interface Transport {
  /** @throws SvcError */
  send(call: Call): Promise<Answer>;
  /**
   * For answers of any length. `timeoutMs` is the time until an answer begins, and then the time for each wait for more
   * of it. Only failures before the answer begins are retried.
   * @throws SvcError
   */
  open(call: Call): Promise<TextStream>;
  /**
   * One deadline for all requests and waits of `work`. The client's own time unless `timeoutMs` is given.
   * @throws SvcError
   */
  whole<T>(call: CallOptions, work: (whole: WholeCall) => Promise<T>): Promise<T>;
}

const MAX_BACKOFF_MS = 2_000;

/**
 * The budget for repeating calls after 429 or 503, shared by all calls of this client: 10 a second and 0.2 for each
 * call, at most 100 in reserve. Without it, repeats could triple the load of a service that is already overloaded.
 */
const REPEATS_PER_SECOND = 10;
const REPEATS_PER_CALL = 0.2;
const MAX_REPEATS = 100;

/** @throws SvcError `configuration` */
export function createTransport(options: TransportOptions): Transport {
  const baseUrl = checkBaseUrl(options.baseUrl, options.allowHttp ?? false);
  const { now = Date.now, random = Math.random, sleep = wait } = options;

  let repeats = MAX_REPEATS;
  let countedAtMs = now();
  const mayLoad = ({ error: { status } }: Failure): boolean => {
    if (status !== 429 && status !== 503) return true;
    if (repeats < 1) return false;
    repeats -= 1;
    return true;
  };
  const countCall = (): void => {
    const elapsedSeconds = Math.max(0, now() - countedAtMs) / 1000;
    countedAtMs = now();
    repeats = Math.min(MAX_REPEATS, repeats + REPEATS_PER_CALL + elapsedSeconds * REPEATS_PER_SECOND);
  };

  async function attempt<T extends object>(
    call: Call,
    tryOne: (request: BuiltRequest, deadline: Deadline, wasSent: boolean) => Promise<T | Failure>,
  ): Promise<T> {
    checkCall(call);
    const request = buildRequest(call, options, baseUrl);
    const deadline = startDeadline(call.timeoutMs ?? options.timeoutMs, call.signal);
    const { maxAttempts = Number.POSITIVE_INFINITY } = options;
    let isLost = false;
    let was503 = false;
    countCall();
    try {
      for (let attempt = 1; ; attempt++) {
        const result = await tryOne(request, deadline, isLost);
        if (!('error' in result)) return result;
        const is503 = result.error.status === 503;
        isLost ||= result.isLost;
        was503 ||= is503;
        const delayMs = backoffMs(result.error, attempt, random());
        const canRetry = mayRepeat(call, result) && attempt < maxAttempts;
        if (!canRetry || delayMs >= deadline.remainingMs() || !mayLoad(result))
          throw finalError(result.error, call.hasEffect && (isLost || (was503 && !is503)));
        // The deadline ends the wait early; the next attempt then reports how the call ended.
        await deadline.within(sleep(delayMs)).catch(() => undefined);
      }
    } finally {
      deadline.clear();
    }
  }
  const send: Transport['send'] = (call) =>
    attempt(call, (request, deadline, wasSent) =>
      tryOnce(request, deadline, wasSent, async (response) => {
        const text = await readText(response, deadline, request.maxResponseBytes);
        return readAnswer(response, text, now(), call);
      }),
    );
  const open: Transport['open'] = (call) =>
    attempt<TextStream>(call, (request, deadline, wasSent) =>
      tryOnce(request, deadline, wasSent, async (response) => {
        if (response.status === 200) {
          const { timeoutMs = options.timeoutMs, signal } = call;
          const networkError = (cause: unknown) => connectionError(request, cause).error;
          return toTextStream(response, { timeoutMs, signal, networkError });
        }
        const answer = readAnswer(response, await readText(response, deadline, MAX_RESPONSE_BYTES), now());
        return 'error' in answer
          ? answer
          : badResponse(`status ${answer.status}`, answer.status, answer.requestId);
      }),
    );
  const whole: Transport['whole'] = async (call, work) => {
    checkCall(call);
    const { timeoutMs = options.timeoutMs, signal } = call;
    return callAsWhole({ timeoutMs, ...(signal !== undefined && { signal }) }, work);
  };
  return { send, open, whole };
}

/** Checks the two options that callers pass through: a timer given anything but a number would fire at once. */
function checkCall({ timeoutMs, signal }: Pick<Call, 'timeoutMs' | 'signal'>): void {
  if (timeoutMs !== undefined) checkValue('timeoutMs', timeoutMs, timeoutRule);
  if (signal !== undefined) checkValue('signal', signal, aSignal);
}

const aSignal = anObjectWith<AbortSignal>('an AbortSignal', [], ['addEventListener']);

interface BuiltRequest {
  url: string;
  init: RequestInit;
  fetch: typeof fetch;
  maxResponseBytes: number;
}

function buildRequest(call: Call, options: TransportOptions, baseUrl: string): BuiltRequest {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers };
  if (!call.isPublic) headers.authorization = `Bearer ${getApiKey(options)}`;
  const init: RequestInit = { method: call.method, headers, redirect: 'manual' };
  if (call.body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(call.body);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  // Called as a plain function, because browsers refuse a `fetch` that is invoked as a method of another object.
  const fetchNow = options.fetch ?? globalThis.fetch;
  return {
    url: `${baseUrl}${call.path}${search}`,
    init,
    fetch: (input, init) => fetchNow(input, init),
    maxResponseBytes: call.maxResponseBytes ?? MAX_RESPONSE_BYTES,
  };
}

async function tryOnce<T>(
  request: BuiltRequest,
  deadline: Deadline,
  wasSent: boolean,
  read: (response: Response) => Promise<T | Failure>,
): Promise<T | Failure> {
  if (deadline.ended !== null) return ended(deadline.ended, wasSent);
  try {
    return await read(
      await deadline.within(request.fetch(request.url, { ...request.init, signal: deadline.signal })),
    );
  } catch (cause) {
    return deadline.ended === null ? connectionError(request, cause) : ended(deadline.ended, true, cause);
  }
}

function connectionError({ url }: BuiltRequest, cause: unknown): Failure {
  const { host } = new URL(url);
  const code = causeCode(cause);
  const why = code === null ? '' : ` (${code})`;
  const error = new SvcError('network', `the connection to the service at ${host} failed${why}`, { cause });
  return { error, canRetry: true, isLost: !NEVER_SENT.includes(code ?? '') };
}

const ended = (why: 'timeout' | 'aborted', isLost: boolean, cause?: unknown): Failure => ({
  error: callEnded(why, cause),
  canRetry: false,
  isLost,
});

/** A 503 may stand for a commit whose outcome the service itself does not know. */
const mayRepeat = ({ isOnceOnly = false }: Call, { canRetry, isLost, error }: Failure): boolean =>
  canRetry && !(isOnceOnly && (isLost || error.status === 503));

/** A definite refusal of one attempt says nothing about an earlier attempt whose answer was lost or was a 503. */
function finalError(error: SvcError, isLost: boolean): SvcError {
  if (!isLost || error.kind === 'aborted' || error.kind === 'bad-response') return error;
  return outcomeUnknown(
    error,
    'the answer was lost or tells of a fault, so whether the call took effect is unknown',
  );
}

/**
 * Failures that Node reports before any byte is written. After any other failure the request may have reached the
 * service.
 */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/** The runtime's code for a failed fetch, such as ECONNREFUSED, or null. */
function causeCode(error: unknown): string | null {
  const { cause } = Object(error) as { cause?: unknown };
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : null;
}

function backoffMs(error: SvcError, attempt: number, random: number): number {
  const spreadMs = random * Math.min(MAX_BACKOFF_MS, 100 * 2 ** (attempt - 1));
  return (error.retryAfterSeconds ?? 0) * 1000 + spreadMs;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Visible ASCII without spaces. Anything else cannot be sent in a header, and the error about it would show the key.
 */
const API_KEY = /^[\x21-\x7e]{1,512}$/;

function getApiKey(options: TransportOptions): string {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const key = options.apiKey ?? scope.process?.env?.[options.apiKeyVariable];
  if (key === undefined || key === '') {
    throw new SvcError('configuration', `no API key: pass apiKey or set ${options.apiKeyVariable}`);
  }
  if (!API_KEY.test(key)) throw new SvcError('configuration', 'the API key holds characters that no key has');
  return key;
}

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

function checkBaseUrl(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new SvcError('configuration', 'baseUrl must be an absolute http(s) URL');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new SvcError('configuration', 'baseUrl must have no user info, query or fragment');
  }
  if (url.protocol === 'http:' && !allowHttp && !LOOPBACK_HOSTS.includes(url.hostname)) {
    throw new SvcError('configuration', 'baseUrl must be https: an API key would travel in clear text');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
