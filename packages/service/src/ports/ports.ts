/** Everything the use cases take from outside: time, randomness, crypto, signing keys and storage. */
import type { CryptoPort, Signer } from '@svc/protocol';

export type { CryptoPort, Signer };

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export interface Random {
  /** Cryptographically strong random bytes. */
  bytes(length: number): Uint8Array;
}
