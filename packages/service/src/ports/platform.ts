/** Everything the use cases take from outside besides storage: time, randomness, crypto, signing keys, a log. */
import type { CryptoPort, Signer } from '@svc/protocol';

export type { CryptoPort, Signer };

export interface Clock {
  /** Milliseconds since the epoch, whole. */
  nowMs(): number;
  /** Reads the time again from where it comes from. */
  resync(): Promise<void>;
}

export interface Random {
  /** Cryptographically strong random bytes. */
  bytes(length: number): Uint8Array;
}

/**
 * Where the service says what went wrong, and what must be found there afterwards. Fields never hold a key, a Grant or
 * a Proof.
 */
export interface Log {
  info(event: string, fields: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields: Readonly<Record<string, unknown>>): void;
  error(event: string, fields: Readonly<Record<string, unknown>>): void;
}
