/** Calls to the service that this page came from. Addresses are relative, so that a path prefix makes no difference. */
import { isJsonObject } from '@svc/protocol';

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON by POST, null as a POST without a body; without it the call is a GET. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Called with those of the answer, whatever it is. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** What the service answered instead, in its own words. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  constructor(
    readonly status: number,
    message: string,
    /** When the service asks to come back; null where it does not say. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** How often what is answered 503 with a Retry-After is repeated, and the longest wait before that. */
const REPEATS = 2;
const LONGEST_WAIT_MS = 3_000;
/** Nothing is waited for longer; what takes authority away has half of it at the service. */
const DEADLINE_MS = 60_000;

/** The JSON body and status of a 2xx. Rejects with ApiProblem: 0 is no answer, or none that can be read. A GET is repeated, a POST is not. */
export const callApi = <T>(path: string, options: CallOptions = {}): Promise<Answer<T>> =>
  options.body === undefined ? repeated(() => ask<T>(path, options)) : ask<T>(path, options);

interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** For what may be done twice: does it again while the service is busy and says when to come back. */
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
  // What was done may be in the part that is missing.
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
    ? // A name, as of a member, stays as it is.
      error.message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
    : 'Something went wrong.';
