/** What stands behind a signer that is not in this process. */

export interface Driver {
  /** For people: which token or key. */
  readonly name: string;
  /** No longer message can be signed; null: any can. */
  readonly maxBytes: number | null;
  /** How long a signature may take, with waiting and repeating. */
  readonly deadlineMs: number;
  /** One signature over exactly these bytes. Rejects with the driver's error; begins nothing more once `signal` is aborted. */
  sign(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Too much was asked at once; the key is there. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}
