/** The port to the endpoint. The result types are those of `post` of @svc/outbound, which implements it. */

export type TransportAnswer =
  /** The whole body for status 200; may be empty for any other status. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: Uint8Array }
  /** No usable answer. `too-large` and `encoding`: the answer violated the contract. */
  | { readonly kind: 'unreachable'; readonly fault: string; readonly why: string }
  /** Forbidden by the caller's policy; nothing was sent. */
  | { readonly kind: 'refused'; readonly why: string };

/** How requests reach the endpoint. */
export interface Transport {
  /**
   * One POST of a JSON text. Resolves within `timeoutMs`, with at most `maxBytes` of body; follows no redirect, decodes
   * no content coding, never retries. Failures are values, not exceptions.
   */
  post(
    url: string,
    jsonText: string,
    limits: { readonly maxBytes: number; readonly timeoutMs: number },
  ): Promise<TransportAnswer>;
}
