/** The way to the endpoint, as a port. The answers are those of @svc/outbound, whose `post` fits as it is. */

export type TransportAnswer =
  /** The whole body, as sent; complete for 200, and for any other status perhaps empty. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: Uint8Array }
  /** No usable answer. `too-large` and `encoding` say that one was on its way and broke the contract. */
  | { readonly kind: 'unreachable'; readonly fault: string; readonly why: string }
  /** A policy of the caller forbids it; nothing was sent. */
  | { readonly kind: 'refused'; readonly why: string };

export interface Transport {
  /**
   * One POST of a JSON text. Resolves within `timeoutMs`, with at most `maxBytes` of body; follows no redirect, decodes
   * no content coding, sends nothing a second time. What the endpoint does is a value, never an exception.
   */
  post(
    url: string,
    jsonText: string,
    limits: { readonly maxBytes: number; readonly timeoutMs: number },
  ): Promise<TransportAnswer>;
}
