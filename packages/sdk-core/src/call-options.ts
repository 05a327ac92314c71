/** What every call of the clients takes. */

/**
 * For one call: a signal that ends it, and milliseconds for the whole of it instead of the client's own. A list that is fetched
 * as it is consumed has so long for each page.
 */
export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}
