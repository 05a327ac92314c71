/** Options of every call of the clients. */

/**
 * `signal` ends this call. `timeoutMs` is the time for the whole call, in milliseconds, instead of the client's. For a
 * list that is fetched as it is consumed, `timeoutMs` applies to each page.
 */
export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}
