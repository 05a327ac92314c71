/** The interface to a private key outside this process. */

export interface Driver {
  /** Name of the token or key, for people. */
  readonly name: string;
  /** Maximum length of a message; null: no limit. */
  readonly maxBytes: number | null;
  /** Milliseconds that a signature may take, including waiting and repetitions. */
  readonly deadlineMs: number;
  /**
   * One signature over exactly these bytes. Rejects with the driver's error; begins no further call once `signal` is
   * aborted.
   */
  sign(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Too many signatures were requested at once; the key itself is available. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}
