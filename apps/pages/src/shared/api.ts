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

/** The JSON body and status of a 2xx. Rejects with ApiProblem: 0 is no answer at all. */
export const callApi = async <T>(
  path: string,
  { key, body, query = {} }: CallOptions = {},
): Promise<{ readonly status: number; readonly body: T }> => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const response = await fetch(path + search, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
  }).catch(() => {
    throw new ApiProblem(0, 'The service did not answer.');
  });
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiProblem(response.status, messageOf(answer, response.status));
  return { status: response.status, body: answer as T };
};

const messageOf = (answer: unknown, status: number): string =>
  isJsonObject(answer as never) && typeof (answer as { message?: unknown }).message === 'string'
    ? (answer as { message: string }).message
    : `The service answered ${status}.`;

export const problemText = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';
