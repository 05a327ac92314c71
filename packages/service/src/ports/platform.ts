/** Ports of the platform, all that use cases need besides storage: time, randomness, crypto, signing keys, a log. */
import type { CryptoPort, Signer } from '@svc/protocol';

export type { CryptoPort, Signer };

export interface Clock {
  /** Whole milliseconds since the epoch. */
  nowMs(): number;
  /** Reads the time from its source again. */
  resync(): Promise<void>;
}

export interface Random {
  /** Cryptographically strong random bytes. */
  bytes(length: number): Uint8Array;
}

/** The log, for errors and for events that must be found afterwards. Fields never contain a key, a Grant or a Proof. */
export interface Log {
  info(event: string, fields: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields: Readonly<Record<string, unknown>>): void;
  error(event: string, fields: Readonly<Record<string, unknown>>): void;
}
