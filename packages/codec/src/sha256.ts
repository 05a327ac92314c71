/**
 * The one hash encoding of the interface: `sha256:` and lower-case hex, over the exact bytes (interface §Identifier
 * and value formats).
 */
import type { Sha256 } from '../model/ids.ts';
import type { CryptoPort } from './crypto.ts';

/** A string is hashed as its UTF-8 bytes. */
export const sha256Of = (crypto: CryptoPort, data: Uint8Array | string): Sha256 =>
  `sha256:${crypto.sha256Hex(data)}` as Sha256;
