/** Calls to the service that this page came from. Addresses are relative, so that a path prefix makes no difference. */
import { isJsonObject } from '@svc/protocol';

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON by POST; without it the call is a GET. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** What the service answered instead, in its own words. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** How often a GET that is answered 503 with a Retry-After is repeated, and the longest wait before that. */
const REPEATS = 2;
const LONGEST_WAIT_MS = 3_000;

/** The JSON body and status of a 2xx. Rejects with ApiProblem: 0 is no answer at all. */
export const callApi = async <T>(
  path: string,
  { key, body, query = {} }: CallOptions = {},
): Promise<{ readonly status: number; readonly body: T }> => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const init = {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
  };
  const response = await ask(path + search, init, body === undefined ? REPEATS : 0);
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiProblem(response.status, messageOf(answer, response.status));
  return { status: response.status, body: answer as T };
};

const ask = async (url: string, init: RequestInit, repeats: number): Promise<Response> => {
  const response = await fetch(url, init).catch(() => {
    throw new ApiProblem(0, 'The service did not answer.');
  });
  const waitMs = Number(response.headers.get('Retry-After') ?? Number.NaN) * 1_000;
  if (response.status !== 503 || repeats === 0 || !(waitMs <= LONGEST_WAIT_MS)) return response;
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return ask(url, init, repeats - 1);
};

const messageOf = (answer: unknown, status: number): string =>
  isJsonObject(answer as never) && typeof (answer as { message?: unknown }).message === 'string'
    ? (answer as { message: string }).message
    : `The service answered ${status}.`;

export const problemText = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';
