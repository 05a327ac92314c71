/**
 * Calls to the service that this page came from. Addresses are relative, so that they also work behind a path prefix.
 */
import { isJsonObject } from '@svc/protocol';

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON by POST; null is a POST without a body. Without this member the call is a GET. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Called with the headers of every answer, whatever its status. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** The service's error answer, in its own words. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  constructor(
    readonly status: number,
    message: string,
    /** Milliseconds after which the service asks for a repetition; null where it names none. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** How often a 503 with a Retry-After is repeated, and the longest wait before a repetition. */
const REPEATS = 2;
const LONGEST_WAIT_MS = 3_000;
/** Milliseconds for each call. A revocation has half of that at the service. */
const DEADLINE_MS = 60_000;

/**
 * Resolves with the JSON body and status of a 2xx. Rejects with ApiProblem; its status 0 means no answer, or one that
 * cannot be read. Repeats a GET, never a POST.
 */
export const callApi = <T>(path: string, options: CallOptions = {}): Promise<Answer<T>> =>
  options.body === undefined ? repeated(() => ask<T>(path, options)) : ask<T>(path, options);

interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** For work that may be done twice: repeats it while the service is busy and says when to come back. */
export const repeated = async <T>(work: () => Promise<T>, repeats = REPEATS): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const waitMs = error instanceof ApiProblem && error.status === 503 ? error.retryAfterMs : null;
    if (waitMs === null || waitMs > LONGEST_WAIT_MS || repeats === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return repeated(work, repeats - 1);
  }
};

const ask = async <T>(
  path: string,
  { key, body, query = {}, onHeaders }: CallOptions,
): Promise<Answer<T>> => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const hasBody = body !== undefined && body !== null;
  const init = {
    ...(body !== undefined && { method: 'POST' }),
    ...(hasBody && { body: JSON.stringify(body) }),
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(hasBody && { 'Content-Type': 'application/json' }),
    },
    signal: AbortSignal.timeout(DEADLINE_MS),
  };
  const response = await fetch(path + search, init).catch(() => {
    throw new ApiProblem(0, 'The service did not answer.');
  });
  onHeaders?.(response.headers);
  const answer: unknown = await response.json().catch(() => undefined);
  // The missing part may have been the result of the call.
  if (response.ok && answer === undefined)
    throw new ApiProblem(0, 'The answer of the service could not be read to its end.');
  if (response.ok) return { status: response.status, body: answer as T };
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  throw new ApiProblem(
    response.status,
    messageOf(answer, response.status),
    Number.isNaN(retryAfter) ? null : retryAfter * 1_000,
  );
};

const messageOf = (answer: unknown, status: number): string =>
  isJsonObject(answer as never) && typeof (answer as { message?: unknown }).message === 'string'
    ? (answer as { message: string }).message
    : `The service answered ${status}.`;

export const problemText = (error: unknown): string =>
  error instanceof Error
    ? // A name, such as that of a member, is not capitalised.
      error.message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
    : 'Something went wrong.';
