/**
 * The cryptography that the engine needs, as a synchronous port. There is one implementation in JavaScript for every
 * runtime, and a native one for servers. All implementations give the same verdicts (protocol §1).
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { isStrictPublicKey, verifyStrict } from './ed25519.ts';
import { encodeUtf8 } from './utf8.ts';

/** SHA-256 and strict Ed25519, the interface that all verifying code takes. No method throws on received input. */
export interface CryptoPort {
  /** SHA-256 as 64 lower-case hex characters. A string is hashed as UTF-8. */
  sha256Hex(data: Uint8Array | string): string;
  /** Whether a raw 32-byte Ed25519 key is canonical, not of small order and torsion-free. False for another length. */
  isStrictKey(publicKey: Uint8Array): boolean;
  /**
   * Strict Ed25519, which includes the check of the key. A string message is taken as UTF-8. Returns false and never
   * throws.
   */
  verify(publicKey: Uint8Array, message: Uint8Array | string, signature: Uint8Array): boolean;
}

const toBytes = (data: Uint8Array | string): Uint8Array =>
  typeof data === 'string' ? encodeUtf8(data) : data;

/** The implementation in JavaScript alone, for every runtime. */
export const portableCrypto: CryptoPort = {
  sha256Hex: (data) => bytesToHex(sha256(toBytes(data))),
  isStrictKey: isStrictPublicKey,
  verify: (publicKey, message, signature) => verifyStrict(publicKey, toBytes(message), signature),
};
