/**
 * The one hash encoding of the interface: `sha256:` and lower-case hex, over the exact bytes (interface §Identifier
 * and value formats).
 */
import type { Branded } from './branded.ts';
import type { CryptoPort } from './crypto.ts';

/** `sha256:` and 64 lower-case hex characters. */
export type Sha256 = Branded<'Sha256'>;

const SHA256 = /^sha256:[0-9a-f]{64}$/;

/** Whether a value is a hash in the form of `Sha256`. */
export const isSha256 = (text: unknown): text is Sha256 => typeof text === 'string' && SHA256.test(text);

/** A string is hashed as its UTF-8 bytes. */
export const sha256Of = (crypto: CryptoPort, data: Uint8Array | string): Sha256 =>
  `sha256:${crypto.sha256Hex(data)}` as Sha256;
