/** A reason why a Receipt is not acceptable as the answer to a call. */

export interface ReceiptFailure {
  /** A code of `@svc/receipts`, or `grant-hash`, `proof-hash`, `relying-party`, `request-hash`, `old-answer`, `clock-behind`. */
  code: string;
  message: string;
  /** JSON pointer into the Receipt. */
  path?: string;
}
